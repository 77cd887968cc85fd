package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.load.Parameters;
import io.kinema.weights.TensorSource;
import java.util.Optional;
import java.util.Set;

/**
 * Owns the video VAE's parameters that are not views of the checkpoint, and its scratch memory, until it is closed;
 * closing twice is harmless. The backend and the checkpoint must outlive it. Used by one thread.
 *
 * <p>The encoder is always FP32. The decoder's matrix products and attention follow a precision plan; its residual rows,
 * norms and pixels are FP32 in every plan.
 */
public final class VideoVae implements AutoCloseable {
    private final Backend backend;
    private final VideoVaeConfig config;
    private final Workspace parameters;
    private final Workspace scratch;
    private final Optional<VideoEncoder> encoder;
    private final Optional<VitDecoder> decoder;

    private VideoVae(Backend backend, TensorSource source, VideoVaeConfig config, Precision precision, Set<AutoencoderPart> parts,
                     Workspace parameters, Workspace scratch) {
        this.backend = backend;
        this.config = config;
        this.parameters = parameters;
        this.scratch = scratch;
        Parameters p = new Parameters(backend, source, parameters, "", Parameters.Rounding.AS_STORED);
        encoder = parts.contains(AutoencoderPart.ENCODER) ? Optional.of(VideoEncoder.load(p, config)) : Optional.empty();
        decoder = parts.contains(AutoencoderPart.DECODER) ? Optional.of(VitDecoder.load(p, config, precision)) : Optional.empty();
    }

    /** Loads both halves in FP32. @throws io.kinema.weights.BadWeightsException when a tensor is absent or has another shape */
    public static VideoVae open(Backend backend, TensorSource source, VideoVaeConfig config) {
        return open(backend, source, config, Precision.FP32, AutoencoderPart.both());
    }

    /**
     * Loads the wanted halves.
     *
     * @param source    weights in the diffusers layout, any float dtype
     * @param precision plan of the decoder's products
     * @param parts     halves to load; the other cannot be used
     * @throws io.kinema.weights.BadWeightsException when a tensor is absent or has another shape
     */
    public static VideoVae open(Backend backend, TensorSource source, VideoVaeConfig config, Precision precision, Set<AutoencoderPart> parts) {
        Workspace parameters = backend.workspace("video VAE parameters");
        Workspace scratch = backend.workspace("video VAE scratch");
        try {
            return new VideoVae(backend, source, config, precision, parts, parameters, scratch);
        } catch (RuntimeException e) {
            scratch.close();
            parameters.close();
            throw e;
        }
    }

    public VideoVaeConfig config() {
        return config;
    }

    /** The most bytes of scratch memory ever in use at once. */
    public long peakScratchBytes() {
        return scratch.peakBytes();
    }

    /**
     * Moments of the posterior of a video or, for a single frame, of a picture.
     *
     * @param frames height and width are multiples of the spatial ratio and at least twice it
     * @param owner  memory of the result
     * @return FP32 [2 * latent channels, {@link ClipTiming#latentFrames}, height / ratio, width / ratio]: mean, then log variance
     * @throws IllegalArgumentException for other sizes
     */
    public Tensor encode(FrameSource frames, CodingOptions options, Workspace owner) {
        VideoEncoder network = encoder.orElseThrow(() -> new IllegalStateException("video encode: the encoder was not loaded"));
        requireSide("height", frames.height());
        requireSide("width", frames.width());
        if (frames.count() < 1) {
            throw new IllegalArgumentException("video encode: got " + frames.count() + " frames, expected at least 1");
        }
        int ratio = config.spatialRatio();
        Tensor moments = owner.f32(2L * config.latentChannels(), config.timing().latentFrames(frames.count()),
                frames.height() / ratio, frames.width() / ratio);
        try (Workspace.Frame frame = scratch.frame()) {
            new ClipEncoder(backend, network, config, options, scratch, frames).run(moments);
        }
        return moments;
    }

    /**
     * Decodes latents and hands over frames as soon as they are final, chunk by chunk.
     *
     * @param latents FP32 [latent channels, T, h, w], denormalised; T at least {@link ClipTiming#minimumLatentFrames()}
     * @param sink    gets {@link ClipTiming#frames} frames of (h * ratio) x (w * ratio) pixels
     * @throws IllegalArgumentException for other shapes, naming what was expected
     */
    public void decode(Tensor latents, CodingOptions options, FrameSink sink) {
        VitDecoder network = decoder.orElseThrow(() -> new IllegalStateException("video decode: the decoder was not loaded"));
        if (latents.rank() != 4 || latents.size(0) != config.latentChannels() || latents.size(2) < 1 || latents.size(3) < 1) {
            throw new IllegalArgumentException("video decode: got " + latents + ", expected [" + config.latentChannels() + ", frames, height, width]");
        }
        config.timing().frames(latents.size(1));
        try (Workspace input = backend.workspace("video latents"); Workspace.Frame frame = scratch.frame()) {
            new ChunkDecoder(backend, network, config, options, scratch, onDevice(latents, input)).run(sink);
        }
    }

    /** All of them at once: a copy from the host for every chunk would wait for the device each time. */
    private Tensor onDevice(Tensor latents, Workspace owner) {
        if (latents.device().equals(backend.device())) {
            return latents;
        }
        Tensor copy = owner.f32(latents.shape().toArray());
        backend.copy(latents, copy);
        return copy;
    }

    /** Decodes everything into one tensor FP32 [channels, frames, height, width] in {@code owner}'s memory. */
    public Tensor decode(Tensor latents, CodingOptions options, Workspace owner) {
        int ratio = config.spatialRatio();
        Tensor video = owner.f32(config.outChannels(), config.timing().frames(latents.size(1)), (long) latents.size(2) * ratio, (long) latents.size(3) * ratio);
        decode(latents, options, (first, frames) -> backend.copy(frames, video.slice(1, first, (long) first + frames.size(1))));
        return video;
    }

    private void requireSide(String side, int pixels) {
        int ratio = config.spatialRatio();
        if (pixels < 2 * ratio || pixels % ratio != 0) {
            throw new IllegalArgumentException("video encode: got " + side + " " + pixels + ", expected a multiple of " + ratio
                    + " of at least " + 2 * ratio);
        }
    }

    @Override
    public void close() {
        scratch.close();
        parameters.close();
    }
}
