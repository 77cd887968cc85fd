package io.kinema.engine;

import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** Random adapters: rank 4 on attention and feed-forward of every block. */
public final class NanoAdapter {
    private static final int RANK = 4;
    private static final Sizes NANO = new Sizes(192, 256, 512, 8, 1);

    /** Of a transformer. */
    record Sizes(int hidden, int inner, int ffn, int layers, int refiners) {
    }

    private NanoAdapter() {
    }

    /** A file in LightX2V's key style that fits the bundled model. @param prefix in front of every name */
    public static Path write(Path file, String prefix, Map<String, String> metadata) {
        return write(file, prefix, metadata, NANO);
    }

    /** The same that fits another one. */
    static Path write(Path file, String prefix, Map<String, String> metadata, Sizes sizes) {
        Random random = new Random(file.getFileName().toString().length());
        MemoryTensors.Builder tensors = MemoryTensors.builder("nano adapter");
        for (int i = 0; i < sizes.refiners(); i++) {
            block(tensors, prefix + "token_refiner.refiner_blocks." + i + ".", random, sizes);
        }
        for (int i = 0; i < sizes.layers(); i++) {
            block(tensors, prefix + "transformer_blocks." + i + ".", random, sizes);
        }
        try (MemoryTensors all = tensors.build()) {
            SafetensorsWriter.write(file, all.names().stream().map(all::get).toList(), metadata);
        }
        return file;
    }

    private static void block(MemoryTensors.Builder to, String block, Random random, Sizes s) {
        pair(to, block + "attn.to_q", s.inner(), s.hidden(), random);
        pair(to, block + "attn.to_k", s.inner(), s.hidden(), random);
        pair(to, block + "attn.to_v", s.inner(), s.hidden(), random);
        pair(to, block + "attn.to_out.0", s.hidden(), s.inner(), random);
        pair(to, block + "ff.net.0.proj", 2 * s.ffn(), s.hidden(), random);
        pair(to, block + "ff.net.2", s.hidden(), s.ffn(), random);
    }

    private static void pair(MemoryTensors.Builder to, String module, int out, int in, Random random) {
        to.rounded(module + ".lora_A.default.weight", DType.BF16, normal(random, RANK * in, 1 / Math.sqrt(in)), RANK, in);
        to.rounded(module + ".lora_B.default.weight", DType.BF16, normal(random, out * RANK, 0.02), out, RANK);
    }

    private static float[] normal(Random random, int n, double spread) {
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) (spread * random.nextGaussian());
        }
        return values;
    }
}
