package io.kinema.model.dit;

import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.model.GoldenCase;
import io.kinema.model.QuantizedTensors;
import io.kinema.model.TinyWeights;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.Shape;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/** A small transformer whose heads, channels and rotated groups can be shared out to two and four ranks, and sequences for it. */
final class RankedSample {
    static final DitConfig CONFIG = new DitConfig(4, 32, 48, 3, 1, 128, 32, 8, 32, 32, 40, 24, 4, 10000, 1e-5f, 1e-5f, 1e-5f, Optional.empty());
    private static final Rotation ROTATION = new Rotation(16);

    /** How its weights are stored and how large their values are. */
    enum Weights {
        ORIGINAL, INT8, ROTATED_INT8, WIDE;

        MemoryTensors make() {
            MemoryTensors original = random(this == WIDE);
            return switch (this) {
                case ORIGINAL, WIDE -> original;
                case INT8 -> QuantizedTensors.of(original, QuantizedTensors::blockMatrix, Optional.empty());
                case ROTATED_INT8 -> QuantizedTensors.of(original, QuantizedTensors::blockMatrix, Optional.of(ROTATION));
            };
        }
    }

    private RankedSample() {
    }

    /** @param wide residuals beyond FP16, and rows of the feed-forward that FP16 has to scale */
    private static MemoryTensors random(boolean wide) {
        TinyWeights tensors = new TinyWeights("sample", 7, DType.BF16);
        DitTensors.of(CONFIG).entries().forEach(entry -> {
            Shape shape = entry.shape();
            long[] dims = shape.toArray();
            if (entry.name().equals("proj_in.bias") || entry.name().equals("audio_proj_in.bias")) {
                tensors.normal(entry.name(), 0, wide ? 9e4 : 0.1, dims);
            } else if (wide && entry.name().contains("ff.net.0.proj")) {
                tensors.normal(entry.name(), 0, 6, dims);
            } else if (shape.rank() > 1) {
                tensors.matrix(entry.name(), dims);
            } else {
                tensors.normal(entry.name(), entry.name().endsWith(".bias") ? 0 : 1, 0.1, dims);
            }
        });
        return tensors.build();
    }

    /** The golden ref2va sequence, 236 rows: references, their sounds and text with pictures in it. */
    static DitInputs ref2va() {
        try (GoldenCase golden = GoldenCase.open(GoldenCase.bundled(), "transformer/ref2va")) {
            DitInputs mapped = DitGoldenTest.inputs(golden, golden.check("fp32").orElseThrow());
            return new DitInputs(mapped.layout(), copy(mapped.text()), mapped.timesteps(), mapped.rowTimesteps(), copy(mapped.video()), copy(mapped.audio()));
        }
    }

    private static Tensor copy(Tensor t) {
        return Tensor.ofFloats(t.toFloats(), t.shape().toArray());
    }

    /** Text, video and audio rows one behind the other, at two timesteps. */
    static DitInputs plain(int text, int video, int audio) {
        int all = text + video + audio;
        Random random = new Random(all);
        int[] tags = IntStream.range(0, all).map(r -> r < text ? 1 : r < text + video ? 0 : 2).toArray();
        DitLayout layout = DitLayout.of(random.doubles(3L * all, 0, 20).toArray(), tags, range(0, text), range(text, text + video), range(text + video, all));
        int[] steps = Arrays.stream(tags).map(tag -> tag == 1 ? 1 : 0).toArray();
        return DitInputs.of(layout, normal(random, text, CONFIG.textDim()), new float[] {0.25f, 1}, steps, normal(random, video, CONFIG.videoPatchDim()),
                normal(random, audio, CONFIG.audioChannels()));
    }

    private static int[] range(int from, int to) {
        return IntStream.range(from, to).toArray();
    }

    private static Tensor normal(Random random, int rows, int columns) {
        float[] x = new float[rows * columns];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(x, rows, columns);
    }
}
