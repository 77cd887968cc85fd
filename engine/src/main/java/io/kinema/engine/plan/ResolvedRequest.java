package io.kinema.engine.plan;

import io.kinema.engine.NoiseScheme;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.List;

/**
 * A request that passed every rule, with every default filled in: all that {@code kinema plan} shows and a pipeline needs.
 * Made by {@link RequestResolver}.
 *
 * @param task           what it is made from
 * @param prompt         as given
 * @param width          canvas, pixels
 * @param height         canvas, pixels
 * @param frames         17n + 5, at least 22
 * @param latentFrames   5n + 2
 * @param latentWidth    canvas in latent cells
 * @param latentHeight   canvas in latent cells
 * @param audioLatents   per channel
 * @param steps          model evaluations
 * @param seed           of the first output; output k has {@code seed + k}
 * @param outputs        1 to 10
 * @param flowShift      of the video's schedule
 * @param audioFlowShift of the sound's schedule
 * @param noiseScheme    order of the noise draws
 * @param keyframes      in packed order
 * @param references     in packed order
 * @param adapters       in the order in which their deltas are added
 * @param levels         noise levels before the shifts where a distilled adapter lists them; empty for equidistant ones
 * @param notes          values snapped and defaults chosen, one sentence each
 */
public record ResolvedRequest(Task task, String prompt, int width, int height, int frames, int latentFrames, int latentWidth,
                              int latentHeight, int audioLatents, int steps, long seed, int outputs, double flowShift,
                              double audioFlowShift, NoiseScheme noiseScheme, List<Keyframe> keyframes,
                              List<Reference> references, List<ResolvedAdapter> adapters, List<Double> levels, List<String> notes) {
    public ResolvedRequest {
        keyframes = List.copyOf(keyframes);
        references = List.copyOf(references);
        adapters = List.copyOf(adapters);
        levels = List.copyOf(levels);
        notes = List.copyOf(notes);
    }

    /** The video's schedule. */
    public SigmaGrid videoGrid() {
        return grid(flowShift);
    }

    /** The sound's schedule. */
    public SigmaGrid audioGrid() {
        return grid(audioFlowShift);
    }

    private SigmaGrid grid(double shift) {
        return levels.isEmpty() ? SigmaGrid.ofEvaluations(steps, shift) : SigmaGrid.ofLevels(levels, shift);
    }

    /** Length of the clip at 24 frames a second. */
    public double seconds() {
        return (double) frames / FrameCounts.FPS;
    }

    /** Generated transformer rows of the video. */
    public long videoRows(Patch patch) {
        return (long) (latentFrames / patch.frames()) * patch.rowsPerFrame(latentHeight, latentWidth);
    }

    /** Generated transformer rows of the sound. */
    public long audioRows() {
        return (long) audioLatents * PackedLayout.AUDIO_CHANNELS;
    }
}
