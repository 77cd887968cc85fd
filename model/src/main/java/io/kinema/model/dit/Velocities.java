package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;

/**
 * The two heads' results for the wanted rows, in the layout's order. Views of the caller's memory.
 *
 * @param video FP32 [wanted video rows, video patch channels]
 * @param audio FP32 [wanted audio rows, audio channels]
 */
public record Velocities(Tensor video, Tensor audio) {
    /** Room for the velocities that {@code layout} wants, in {@code owner}'s memory. */
    public static Velocities allocate(Workspace owner, DitConfig config, DitLayout layout) {
        return new Velocities(owner.f32(layout.wantedVideoRows(), config.videoPatchDim()), owner.f32(layout.wantedAudioRows(), config.audioChannels()));
    }
}
