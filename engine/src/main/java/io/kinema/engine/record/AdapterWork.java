package io.kinema.engine.record;

import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.LowRankPair;
import java.util.HashSet;
import java.util.Set;

/**
 * Floating-point operations that an adapter adds, for each row of the layers that it reaches, by a closed formula. An A that several
 * layers of one module share counts once.
 *
 * @param block    for each row of the packed sequence
 * @param text     for each text row
 * @param timestep for each distinct timestep
 * @param videoIn  for each video row
 * @param audioIn  for each audio row
 * @param videoOut for each generated video row
 * @param audioOut for each generated audio row
 */
public record AdapterWork(long block, long text, long timestep, long videoIn, long audioIn, long videoOut, long audioOut) {
    /** No adapter. */
    public static final AdapterWork NONE = new AdapterWork(0, 0, 0, 0, 0, 0, 0);

    /** Of an adapter's low-rank pairs; what is fused into weights adds nothing. */
    public static AdapterWork of(Adapter adapter) {
        AdapterWork sum = NONE;
        Set<String> downs = new HashSet<>();
        for (LowRankPair pair : adapter.pairs()) {
            if (pair.rank() > 0) {
                boolean shared = !downs.add(pair.down().name() + " " + pair.from() + " " + pair.to());
                sum = sum.plus(at(pair.target().module(), 2L * pair.rank() * (pair.up().shape().dim(0) + (shared ? 0 : pair.down().shape().dim(1)))));
            }
        }
        return sum;
    }

    private static AdapterWork at(String module, long flops) {
        boolean layer = module.contains(".attn.") || module.contains(".ff.");
        return switch (module) {
            case "proj_in" -> new AdapterWork(0, 0, 0, flops, 0, 0, 0);
            case "audio_proj_in" -> new AdapterWork(0, 0, 0, 0, flops, 0, 0);
            case "proj_out" -> new AdapterWork(0, 0, 0, 0, 0, flops, 0);
            case "audio_proj_out" -> new AdapterWork(0, 0, 0, 0, 0, 0, flops);
            case "context_embedder" -> new AdapterWork(0, flops, 0, 0, 0, 0, 0);
            default -> layer && module.startsWith("token_refiner") ? new AdapterWork(0, flops, 0, 0, 0, 0, 0)
                    : layer ? new AdapterWork(flops, 0, 0, 0, 0, 0, 0) : new AdapterWork(0, 0, flops, 0, 0, 0, 0);
        };
    }

    /** This and another adapter's. */
    public AdapterWork plus(AdapterWork other) {
        return new AdapterWork(block + other.block, text + other.text, timestep + other.timestep, videoIn + other.videoIn, audioIn + other.audioIn,
                videoOut + other.videoOut, audioOut + other.audioOut);
    }

    /** In one step. */
    public long step(UsefulWork.Rows rows) {
        return block * rows.all() + videoIn * rows.video() + audioIn * rows.audio() + videoOut * rows.generatedVideo() + audioOut * rows.generatedAudio();
    }

    /** In what all steps of a request share. */
    public long preparation(UsefulWork.Rows rows, int timesteps) {
        return text * rows.text() + timestep * timesteps;
    }
}
