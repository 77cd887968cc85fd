package io.kinema.engine.noise;

import io.kinema.engine.NoiseScheme;
import io.kinema.engine.layout.LatentShape;
import java.util.ArrayList;
import java.util.List;

/**
 * All the noise of one request, standard normal FP32, drawn from its seed in the order that belongs to its
 * {@link NoiseScheme}. Latents are drawn flat in row-major (C, T, H, W) order, sound in rows.
 *
 * <p>{@code DIFFUSERS}: one generator draws each visual condition in packed order, then the video, then the sound (source:
 * the MiniMax-H3 blocks of Hugging Face diffusers). {@code ONECAT}: a fresh generator with the same seed for each of them; a
 * condition draws {@code max(T + Tc, its frames)} frames, where T is the video's and Tc all visual conditions' latent frames, and
 * keeps its own first ones (source: 1CatAI's vLLM branch). Both agree on the video of a request without visual conditions.
 */
public final class RequestNoise {
    /** Seed of the generator that samples the posterior of a visual condition, whatever the request's seed. */
    public static final long POSTERIOR_SEED = 42;

    private final List<float[]> conditions;
    private final float[] video;
    private final float[] audio;

    private RequestNoise(List<float[]> conditions, float[] video, float[] audio) {
        this.conditions = List.copyOf(conditions);
        this.video = video;
        this.audio = audio;
    }

    /**
     * @param seed          the request's seed; the low 32 bits count
     * @param conditions    latent shapes of the visual conditions (keyframes, image and video references) in packed order;
     *                      sound references are not noised and are left out
     * @param video         shape of the generated video latent
     * @param audioRows     generated audio rows, all channels (2 * audio latents)
     * @param audioChannels values in an audio row
     */
    public static RequestNoise draw(long seed, NoiseScheme scheme, List<LatentShape> conditions, LatentShape video,
            int audioRows, int audioChannels) {
        int audioSize = Math.multiplyExact(audioRows, audioChannels);
        return switch (scheme) {
            case DIFFUSERS -> fromOneGenerator(seed, conditions, video, audioSize);
            case ONECAT -> fromFreshGenerators(seed, conditions, video, audioSize);
        };
    }

    /**
     * Standard normal noise that samples the posterior of one visual condition: its own generator, seeded with
     * {@link #POSTERIOR_SEED}, (C, T, H, W).
     */
    public static float[] posterior(LatentShape condition) {
        return new TorchRandom(POSTERIOR_SEED).randn(condition.elements());
    }

    /** One latent (C, T, H, W) of noise for each visual condition, in packed order. */
    public List<float[]> conditions() {
        return conditions;
    }

    /** Noise of the generated video, (C, T, H, W). */
    public float[] video() {
        return video;
    }

    /** Noise of the generated sound as rows, (2 * audio latents, channels): all left rows, then all right rows. */
    public float[] audio() {
        return audio;
    }

    private static RequestNoise fromOneGenerator(long seed, List<LatentShape> conditions, LatentShape video, int audioSize) {
        TorchRandom random = new TorchRandom(seed);
        List<float[]> drawn = new ArrayList<>();
        for (LatentShape condition : conditions) {
            drawn.add(random.randn(condition.elements()));
        }
        float[] videoNoise = random.randn(video.elements());
        return new RequestNoise(drawn, videoNoise, random.randn(audioSize));
    }

    private static RequestNoise fromFreshGenerators(long seed, List<LatentShape> conditions, LatentShape video, int audioSize) {
        int frames = video.frames() + conditions.stream().mapToInt(LatentShape::frames).sum();
        List<float[]> drawn = new ArrayList<>();
        for (LatentShape condition : conditions) {
            LatentShape longer = condition.withFrames(Math.max(frames, condition.frames()));
            drawn.add(firstFrames(new TorchRandom(seed).randn(longer.elements()), longer, condition.frames()));
        }
        return new RequestNoise(drawn, new TorchRandom(seed).randn(video.elements()), new TorchRandom(seed).randn(audioSize));
    }

    /** Latents are channel-major, so the first frames of every channel are one run of values. */
    private static float[] firstFrames(float[] latent, LatentShape shape, int frames) {
        int frame = shape.height() * shape.width();
        float[] out = new float[shape.channels() * frames * frame];
        for (int c = 0; c < shape.channels(); c++) {
            System.arraycopy(latent, c * shape.frames() * frame, out, c * frames * frame, frames * frame);
        }
        return out;
    }
}
