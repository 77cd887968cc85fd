package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.Parameters;
import io.kinema.weights.TensorSource;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Owns the audio VAE's folded parameters and its scratch memory until it is closed; closing twice is harmless. The backend
 * and the checkpoint must outlive it. Used by one thread. The network is mono: stereo sound is a batch of two. FP32 throughout.
 */
public final class AudioVae implements AutoCloseable {
    private static final Pattern UP_WEIGHT = Pattern.compile("up(\\d{1,3})_weight");

    private final Backend backend;
    private final TensorSource source;
    private final AudioVaeConfig config;
    private final Workspace parameters;
    private final Workspace scratch;
    private final Optional<Encoder> encoder;
    private final Optional<BigVganDecoder> decoder;

    private record Encoder(DacEncoder trunk, AttentionProjection projection, Conv mean, Conv logs) {
        static Encoder load(Parameters p, AudioVaeConfig config) {
            int channels = config.latentChannels();
            return new Encoder(new DacEncoder(p.under("encoder."), config), new AttentionProjection(p.under("pre_block."), config),
                    Conv.point(p.under("mean_proj."), channels, channels), Conv.point(p.under("logs_proj."), channels, channels));
        }
    }

    private AudioVae(Backend backend, TensorSource source, AudioVaeConfig config, Set<AutoencoderPart> parts, Workspace parameters, Workspace scratch) {
        this.backend = backend;
        this.source = source;
        this.config = config;
        this.parameters = parameters;
        this.scratch = scratch;
        Parameters p = new Parameters(backend, source, parameters, "", Parameters.Rounding.AS_STORED);
        encoder = parts.contains(AutoencoderPart.ENCODER) ? Optional.of(Encoder.load(p, config)) : Optional.empty();
        decoder = parts.contains(AutoencoderPart.DECODER) ? Optional.of(new BigVganDecoder(p, config)) : Optional.empty();
    }

    /** Loads both halves. @throws io.kinema.weights.BadWeightsException when a tensor is absent or has another shape */
    public static AudioVae open(Backend backend, TensorSource source, AudioVaeConfig config) {
        return open(backend, source, config, AutoencoderPart.both());
    }

    /**
     * Loads the wanted halves.
     *
     * @param source weights, any float dtype, weight norm as {@code weight_g} and {@code weight_v}
     * @param parts  halves to load; the other cannot be used
     * @throws io.kinema.weights.BadWeightsException when a tensor is absent or has another shape
     */
    public static AudioVae open(Backend backend, TensorSource source, AudioVaeConfig config, Set<AutoencoderPart> parts) {
        Workspace parameters = backend.workspace("audio VAE parameters");
        Workspace scratch = backend.workspace("audio VAE scratch");
        try {
            return new AudioVae(backend, source, config, parts, parameters, scratch);
        } catch (RuntimeException e) {
            scratch.close();
            parameters.close();
            throw e;
        }
    }

    public AudioVaeConfig config() {
        return config;
    }

    /** The most bytes of scratch memory ever in use at once. */
    public long peakScratchBytes() {
        return scratch.peakBytes();
    }

    /**
     * Encodes waveforms; silence fills the last hop.
     *
     * @param samples FP32 [B, 1, L], L at least 1
     * @param tap     sees intermediates
     * @param owner   memory of the result
     * @return posterior of ceil(L / hop) latents
     * @throws IllegalArgumentException for other shapes
     */
    public AudioPosterior encode(Tensor samples, StageTap tap, Workspace owner) {
        Encoder network = encoder.orElseThrow(() -> new IllegalStateException("audio encode: the encoder was not loaded"));
        if (samples.rank() != 3 || samples.size(1) != 1 || samples.elements() == 0) {
            throw new IllegalArgumentException("audio encode: got " + samples + ", expected [batch, 1, samples] with at least one sample");
        }
        int latents = Math.ceilDiv(samples.size(2), config.hop());
        int batch = samples.size(0);
        Tensor mean = owner.f32(batch, config.latentChannels(), latents);
        Tensor logs = owner.f32(batch, config.latentChannels(), latents);
        try (Workspace.Frame frame = scratch.frame()) {
            Tensor trunk = network.trunk().encode(padded(samples, (long) latents * config.hop()), scratch, tap);
            Tensor rows = scratch.f32(batch, latents, config.latentDim());
            backend.copy(trunk.permute(0, 2, 1), rows);
            Tensor projected = network.projection().apply(rows, scratch, tap);
            Tensor channels = scratch.f32(batch, config.latentChannels(), latents);
            backend.copy(projected.permute(0, 2, 1), channels);
            network.mean().apply(backend, channels, mean);
            network.logs().apply(backend, channels, logs);
        }
        return new AudioPosterior(mean, logs);
    }

    private Tensor padded(Tensor samples, long length) {
        Tensor whole = scratch.f32(samples.size(0), 1, length);
        backend.copy(samples, whole.slice(2, 0, samples.size(2)));
        if (length > samples.size(2)) {
            backend.fill(whole.slice(2, samples.size(2), length), 0f);
        }
        return whole;
    }

    /**
     * Decodes latents.
     *
     * @param latents FP32 [B, latent channels, T], denormalised, T at least 1
     * @param tap     sees intermediates
     * @param owner   memory of the result
     * @return FP32 [B, 1, T * hop] in [-1, 1]
     * @throws IllegalArgumentException for other shapes
     */
    public Tensor decode(Tensor latents, StageTap tap, Workspace owner) {
        BigVganDecoder network = decoder.orElseThrow(() -> new IllegalStateException("audio decode: the decoder was not loaded"));
        if (latents.rank() != 3 || latents.size(1) != config.latentChannels() || latents.elements() == 0) {
            throw new IllegalArgumentException("audio decode: got " + latents + ", expected [batch, " + config.latentChannels() + ", latents] with at least one latent");
        }
        Tensor samples = owner.f32(latents.size(0), 1, (long) latents.size(2) * config.hop());
        try (Workspace.Frame frame = scratch.frame()) {
            network.decode(Execution.placed(backend, scratch, latents), scratch, tap, samples);
        }
        return samples;
    }

    /**
     * A buffer of the network by name, for comparison: {@code conv_pre_weight} and {@code up<i>_weight} are weights after
     * folding; any other name is a tensor of the checkpoint, such as {@code decoder.activation_post.upsample.filter}.
     */
    public Optional<Tensor> buffer(String name) {
        if (name.equals("conv_pre_weight")) {
            return decoder.map(BigVganDecoder::firstWeight);
        }
        Matcher up = UP_WEIGHT.matcher(name);
        if (up.matches()) {
            return decoder.flatMap(d -> d.upWeight(Integer.parseInt(up.group(1))));
        }
        return source.find(name).map(stored -> backend.load(stored, parameters));
    }

    @Override
    public void close() {
        scratch.close();
        parameters.close();
    }
}
