package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The causal convolutional encoder of one clip and tile. Owns nothing; its parameters live where they were loaded. */
final class VideoEncoder {
    private record Level(List<ResidualBlock> blocks, Optional<CausalConv> down) {
    }

    private final Backend backend;
    private final CausalConv convIn;
    private final List<Level> levels;
    private final GroupNorm normOut;
    private final CausalConv convOut;
    private final CausalConv quant;

    private VideoEncoder(Backend backend, CausalConv convIn, List<Level> levels, GroupNorm normOut, CausalConv convOut, CausalConv quant) {
        this.backend = backend;
        this.convIn = convIn;
        this.levels = levels;
        this.normOut = normOut;
        this.convOut = convOut;
        this.quant = quant;
    }

    static VideoEncoder load(Parameters root, VideoVaeConfig config) {
        Parameters p = root.under("encoder.");
        int moments = 2 * config.latentChannels();
        int last = config.encoderChannels().getLast();
        return new VideoEncoder(root.backend(),
                CausalConv.same(p.under("conv_in."), config.inChannels(), config.encoderChannels().getFirst(), config.padding()),
                levels(p, config),
                GroupNorm.load(p.under("norm_out."), last, config),
                CausalConv.same(p.under("conv_out."), last, moments, config.padding()),
                CausalConv.point(root.under("quant_conv."), moments, moments));
    }

    private static List<Level> levels(Parameters p, VideoVaeConfig config) {
        List<Level> levels = new ArrayList<>();
        int in = config.encoderChannels().getFirst();
        for (int i = 0; i < config.encoderChannels().size(); i++) {
            Parameters level = p.under("down_blocks." + i + ".");
            int out = config.encoderChannels().get(i);
            List<ResidualBlock> blocks = new ArrayList<>();
            for (int j = 0; j < config.layersPerBlock(); j++) {
                blocks.add(ResidualBlock.load(level.under("resnets." + j + "."), j == 0 ? in : out, out, config));
            }
            boolean shrinks = config.spatialFactors().get(i) > 1;
            levels.add(new Level(List.copyOf(blocks), shrinks
                    ? Optional.of(CausalConv.down(level.under("downsamplers.0.conv."), out, config.temporalFactors().get(i), config.padding()))
                    : Optional.empty()));
            in = out;
        }
        return List.copyOf(levels);
    }

    /**
     * Moments of the posterior.
     *
     * @param pixels  FP32 [channels, frames, height, width], contiguous
     * @param moments FP32 [2 * latent channels, latent frames, height / ratio, width / ratio]; written whole
     */
    void encode(Tensor pixels, Workspace ws, StageTap tap, Tensor moments) {
        try (Workspace.Frame frame = ws.frame()) {
            Tensor x = convIn.room(pixels, ws);
            convIn.apply(backend, pixels, x);
            tap.stage("conv_in", x);
            for (int i = 0; i < levels.size(); i++) {
                x = level(i, x, ws, tap);
                tap.stage("down_block" + i, x);
            }
            if (tap.wants("norm_out")) {
                tapNorm(x, ws, tap);
            }
            normOut.apply(backend, x, true, x);
            Tensor last = convOut.room(x, ws);
            convOut.apply(backend, x, last);
            tap.stage("conv_out", last);
            quant.apply(backend, last, moments);
        }
    }

    private Tensor level(int i, Tensor input, Workspace ws, StageTap tap) {
        Tensor x = input;
        List<ResidualBlock> blocks = levels.get(i).blocks();
        for (int j = 0; j < blocks.size(); j++) {
            x = blocks.get(j).apply(backend, x, ws);
            tap.stage("down_block" + i + "_resnet" + j, x);
        }
        if (levels.get(i).down().isEmpty()) {
            return x;
        }
        CausalConv down = levels.get(i).down().get();
        Tensor smaller = down.room(x, ws);
        down.apply(backend, x, smaller);
        return smaller;
    }

    /** The final norm without the SiLU that is fused with it otherwise. */
    private void tapNorm(Tensor x, Workspace ws, StageTap tap) {
        try (Workspace.Frame frame = ws.frame()) {
            Tensor normed = ws.f32(x.shape().toArray());
            normOut.apply(backend, x, false, normed);
            tap.stage("norm_out", normed);
        }
    }
}
