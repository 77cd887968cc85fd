package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The waveform decoder (BigVGAN): transposed convolutions, each followed by the mean of parallel residual blocks. Owns nothing. */
final class BigVganDecoder {
    private static final int KERNEL = 7;

    /** One upsampling stage. */
    private record Stage(Tensor up, Tensor bias, int rate, int kernel, List<ResidualStack> blocks) {
        Tensor room(Tensor x, Workspace ws) {
            return ws.f32(x.size(0), up.size(1), (long) x.size(2) * rate);
        }

        int padding() {
            return (kernel - rate) / 2;
        }
    }

    private final Backend backend;
    private final Conv inProjection;
    private final Conv convPre;
    private final List<Stage> stages = new ArrayList<>();
    private final AliasFreeSnake lastSnake;
    private final Conv convPost;

    BigVganDecoder(Parameters root, AudioVaeConfig config) {
        Parameters p = root.under("decoder.");
        backend = root.backend();
        inProjection = Conv.point(root.under("dec_in_proj."), config.latentChannels(), config.latentDim());
        convPre = Conv.same(p.under("conv_pre."), config.latentDim(), config.decoderDim(), KERNEL, 1);
        int channels = config.decoderDim();
        for (int i = 0; i < config.decoderRates().size(); i++) {
            Parameters up = p.under("ups." + i + ".0.");
            int next = config.decoderChannels(i);
            int kernel = config.decoderKernels().get(i);
            stages.add(new Stage(WeightNorm.load(up, channels, next, kernel), up.f32("bias", next), config.decoderRates().get(i), kernel,
                    blocks(p, config, i, next)));
            channels = next;
        }
        lastSnake = AliasFreeSnake.load(p.under("activation_post."), channels);
        convPost = Conv.sameWithoutBias(p.under("conv_post."), channels, 1, KERNEL);
    }

    private static List<ResidualStack> blocks(Parameters p, AudioVaeConfig config, int stage, int channels) {
        int parallel = config.resblockKernels().size();
        List<ResidualStack> blocks = new ArrayList<>();
        for (int j = 0; j < parallel; j++) {
            blocks.add(ResidualStack.load(p.under("resblocks." + (stage * parallel + j) + "."), channels,
                    config.resblockKernels().get(j), config.resblockDilations().get(j)));
        }
        return List.copyOf(blocks);
    }

    /** The folded weight of the first convolution [decoderDim, latentDim, 7]. */
    Tensor firstWeight() {
        return convPre.conv().w();
    }

    /** The folded weight of stage {@code i}'s transposed convolution [in, out, kernel], or empty. */
    Optional<Tensor> upWeight(int i) {
        return i >= 0 && i < stages.size() ? Optional.of(stages.get(i).up()) : Optional.empty();
    }

    /**
     * @param latents FP32 [B, latentChannels, T]
     * @param samples FP32 [B, 1, T * hop]; written whole, in [-1, 1]
     */
    void decode(Tensor latents, Workspace ws, StageTap tap, Tensor samples) {
        try (Workspace.Frame frame = ws.frame()) {
            Tensor projected = inProjection.room(latents, ws);
            inProjection.apply(backend, latents, projected);
            tap.stage("dec_in_proj", projected);
            Tensor x = convPre.room(projected, ws);
            convPre.apply(backend, projected, x);
            tap.stage("conv_pre", x);
            for (int i = 0; i < stages.size(); i++) {
                x = stage(i, x, ws, tap);
            }
            lastSnake.apply(backend, x, x);
            tap.stage("activation_post", x);
            convPost.apply(backend, x, samples);
            tap.stage("conv_post", samples);
            backend.clamp(samples, -1f, 1f, samples);
        }
    }

    private Tensor stage(int i, Tensor input, Workspace ws, StageTap tap) {
        Stage stage = stages.get(i);
        Tensor mean = stage.room(input, ws);
        try (Workspace.Frame frame = ws.frame()) {
            Tensor x = stage.room(input, ws);
            Tensor block = stage.room(input, ws);
            backend.convTranspose1d(input, stage.up(), Optional.of(stage.bias()), stage.rate(), stage.padding(), x);
            tap.stage("up" + i, x);
            int parallel = stage.blocks().size();
            for (int j = 0; j < parallel; j++) {
                Tensor out = j == 0 ? mean : block;
                stage.blocks().get(j).apply(backend, x, ws, out);
                tap.stage("resblock" + (i * parallel + j), out);
                if (j > 0) {
                    backend.add(mean, block, mean);
                }
            }
            backend.scale(mean, 1f / parallel, mean);
        }
        return mean;
    }
}
