package io.kinema.engine.pipeline;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.NoiseScheme;
import io.kinema.engine.Task;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.ResolvedAdapter;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.List;

/**
 * What a pipeline makes, free of files and defaults.
 *
 * @param task          chooses the transformer and the layout
 * @param prompt        as the user wrote it
 * @param media         what it is conditioned on besides the text
 * @param target        sizes of the generated latents
 * @param channels      channels of a video latent
 * @param audioChannels channels of an audio latent
 * @param patch         latent cells of a transformer row
 * @param video         the video's schedule
 * @param audio         the sound's schedule
 * @param noise         order of the noise draws
 * @param adapters      on the transformer
 */
public record PipelineInput(Task task, String prompt, ConditionMedia media, Target target, int channels, int audioChannels, Patch patch,
                            SigmaGrid video, SigmaGrid audio, NoiseScheme noise, List<AdapterUse> adapters) {
    public PipelineInput {
        adapters = List.copyOf(adapters);
        if (video.evaluations() != audio.evaluations()) {
            throw new IllegalArgumentException("schedules: got " + video.evaluations() + " video and " + audio.evaluations()
                    + " audio evaluations, expected the same number");
        }
    }

    /**
     * The input for a resolved request; reads the files that it names.
     *
     * @param model the geometry it was resolved against
     * @throws io.kinema.media.BadMediaException when a file cannot be read
     */
    public static PipelineInput of(ResolvedRequest request, ModelGeometry model) {
        return of(request, model, new MediaLoader(model).load(request));
    }

    /** The input for a resolved request whose media are at hand. */
    public static PipelineInput of(ResolvedRequest request, ModelGeometry model, ConditionMedia media) {
        return new PipelineInput(request.task(), request.prompt(), media,
                new Target(request.latentFrames(), request.latentHeight(), request.latentWidth(), request.audioLatents()),
                model.latentChannels(), model.audioLatentChannels(), model.patch(),
                request.videoGrid(), request.audioGrid(), request.noiseScheme(), request.adapters().stream().map(ResolvedAdapter::use).toList());
    }

    /** The same input conditioned on other media. */
    PipelineInput withMedia(ConditionMedia other) {
        return new PipelineInput(task, prompt, other, target, channels, audioChannels, patch, video, audio, noise, adapters);
    }

    /** Shape of the generated video latent. */
    LatentShape videoShape() {
        return new LatentShape(channels, target.frames(), target.height(), target.width());
    }
}
