package io.kinema.engine.verify;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.text.PatchGrid;
import io.kinema.model.text.PromptEncoder;
import io.kinema.model.text.RankedTextEncoder;
import io.kinema.model.text.TextEncoder;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.text.TextEncoderInput;
import io.kinema.model.text.VisionInput;
import io.kinema.weights.TensorSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Token ids and pixels to hidden states, and requests to token ids and pixels. */
final class TextEncoderOperations implements Operations {
    private static final String BYTES = "_u8";

    @Override
    public Map<String, Operation> byName() {
        return Map.of("encode", TextEncoderOperations::encode, "presentation", PresentationOperation::answer);
    }

    private static Answer encode(Question q) {
        Backend backend = q.run().backend();
        NetworkFolder network = network(q);
        TextEncoderConfig config = TextEncoderConfig.read(network.config());
        TextEncoderInput input = TextEncoderInput.of(q.input("input_ids").toInts(), vision(q, config, "pixel_values", "image_grid_thw"),
                vision(q, config, "pixel_values_videos", "video_grid_thw"));
        try (TensorSource source = network.open();
             PromptEncoder encoder = open(q, source, config);
             Workspace memory = backend.workspace("verify")) {
            return new Answer.Builder().put("prompt_embeds", q.run().values(encoder.encode(input, memory, q.stages()))).build();
        }
    }

    private static PromptEncoder open(Question q, TensorSource source, TextEncoderConfig config) {
        RunSettings.Plan plan = q.run().plan(q.check());
        int layer = q.integer("layer");
        int ranks = q.run().options().ranks().tensorParallel();
        if (!config.text().spreadsOver(ranks)) {
            throw new BadRequestException("tensorParallel", "" + ranks, "expected a divisor of this text encoder's " + config.text().heads() + " heads and "
                    + config.text().ffn() + " feed-forward channels");
        }
        return ranks == 1 ? TextEncoder.open(q.run().backend(), source, config, layer, plan.precision(), plan.rounding())
                : RankedTextEncoder.open(q.run().ranks(), source, config, layer, plan.precision(), plan.rounding(), WeightResidency.COMPONENT);
    }

    /** A case names the whole model, or the text encoder's own folder. */
    private static NetworkFolder network(Question q) {
        Path weights = q.weights();
        return Files.isRegularFile(weights.resolve("config.json")) ? NetworkFolder.read(weights)
                : ModelFolder.open(weights).network(Component.TEXT_ENCODER);
    }

    /** Pixels are stored as floats, or as bytes under a name that says so. */
    private static Optional<VisionInput> vision(Question q, TextEncoderConfig config, String name, String grids) {
        boolean bytes = q.has(name + BYTES);
        if (!bytes && !q.has(name)) {
            return Optional.empty();
        }
        int[] sizes = q.input(grids).toInts();
        List<PatchGrid> list = new ArrayList<>();
        for (int i = 0; i < sizes.length; i += 3) {
            list.add(new PatchGrid(sizes[i], sizes[i + 1], sizes[i + 2]));
        }
        Tensor pixels = bytes ? pixels(q.input(name + BYTES), config.vision().temporal()) : q.input(name).toTensor();
        return Optional.of(new VisionInput(pixels, list));
    }

    /**
     * Bytes (rows, channel, y, x) that stand for all temporal copies, or (rows, channel, temporal, y, x), as the vision tower's
     * rows of (channel, temporal, y, x): {@code (u8 - 127.5) / 127.5}.
     */
    private static Tensor pixels(Values bytes, int temporal) {
        int rank = bytes.shape().rank();
        int rows = bytes.shape().size(0);
        int channels = bytes.shape().size(1);
        int stored = rank == 5 ? bytes.shape().size(2) : 1;
        int area = bytes.shape().size(rank - 2) * bytes.shape().size(rank - 1);
        float[] out = new float[rows * channels * temporal * area];
        for (int i = 0; i < out.length; i++) {
            int copy = Math.min(i / area % temporal, stored - 1);
            int plane = i / area / temporal;
            out[i] = ((float) bytes.at((plane * stored + copy) * area + i % area) - 127.5f) / 127.5f;
        }
        return Tensor.ofFloats(out, rows, (long) channels * temporal * area);
    }
}
