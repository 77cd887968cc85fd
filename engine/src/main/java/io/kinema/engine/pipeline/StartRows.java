package io.kinema.engine.pipeline;

import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.noise.RequestNoise;
import io.kinema.engine.schedule.FlowNoise;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows that the denoising loop starts from: conditions, visual ones mixed with a little noise, then pure noise.
 *
 * @param video rows of all visual conditions, then of the video
 * @param audio rows of all sound references, then of the sound
 */
record StartRows(float[] video, float[] audio) {
    /** Draws the noise of one output. */
    static StartRows draw(PipelineInput input, Conditions conditions, long seed) {
        int audioWidth = input.audioChannels();
        RequestNoise noise = RequestNoise.draw(seed, input.noise(), conditions.shapes(), input.videoShape(),
                input.target().audioLatents() * PackedLayout.AUDIO_CHANNELS, audioWidth);
        List<float[]> video = new ArrayList<>();
        for (int i = 0; i < conditions.visual().size(); i++) {
            float[] mixed = FlowNoise.mix(conditions.visual().get(i), noise.conditions().get(i), FlowNoise.CONDITION_TIMESTEP);
            video.add(input.patch().patchify(mixed, conditions.shapes().get(i)));
        }
        video.add(input.patch().patchify(noise.video(), input.videoShape()));
        List<float[]> audio = new ArrayList<>(conditions.audio());
        audio.add(noise.audio());
        return new StartRows(Rows.join(video), Rows.join(audio));
    }
}
