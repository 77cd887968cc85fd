package io.kinema.engine.forecast;

import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.record.UsefulWork;
import java.util.List;

/**
 * The packed sequence of a request.
 *
 * @param layout    its rows
 * @param pictures  sizes of what the video VAE encodes
 * @param sounds    samples of each channel of what the audio VAE encodes
 * @param imagePatches patches of all pictures, before the vision encoder's merge
 * @param videoPatches patches of all videos
 * @param latentFrames latent frames of the longest earlier clip that is decoded for the text encoder, with its latent size; empty for none
 * @param sourceBytes pixels and samples that are read from files, as they are before they are scaled
 */
record Sequence(PackedLayout layout, List<Pixels> pictures, List<Integer> sounds, int imagePatches, int videoPatches, List<Decoded> latentFrames,
                long sourceBytes) {
    /** Frames that are encoded; one for a picture. */
    record Pixels(int frames, int height, int width) {
    }

    /** Latents of an earlier clip. */
    record Decoded(int frames, int height, int width) {
    }

    /** Rows by modality, as run records count them. */
    UsefulWork.Rows rows() {
        int video = layout.videoIndices().length;
        int audio = layout.audioIndices().length;
        return new UsefulWork.Rows(layout.textRows(), video, video - layout.conditionVideoRows(), audio, audio - layout.conditionAudioRows());
    }
}
