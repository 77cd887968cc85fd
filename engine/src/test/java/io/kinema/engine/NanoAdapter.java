package io.kinema.engine;

import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** Random adapters that fit the bundled model: rank 4 on attention and feed-forward of every block. */
public final class NanoAdapter {
    private static final int RANK = 4;
    private static final int HIDDEN = 192;
    private static final int INNER = 256;
    private static final int FFN = 512;
    private static final int LAYERS = 8;

    private NanoAdapter() {
    }

    /** A file in LightX2V's key style. @param prefix in front of every name */
    public static Path write(Path file, String prefix, Map<String, String> metadata) {
        Random random = new Random(file.getFileName().toString().length());
        MemoryTensors.Builder tensors = MemoryTensors.builder("nano adapter");
        block(tensors, prefix + "token_refiner.refiner_blocks.0.", random);
        for (int i = 0; i < LAYERS; i++) {
            block(tensors, prefix + "transformer_blocks." + i + ".", random);
        }
        try (MemoryTensors all = tensors.build()) {
            SafetensorsWriter.write(file, all.names().stream().map(all::get).toList(), metadata);
        }
        return file;
    }

    private static void block(MemoryTensors.Builder to, String block, Random random) {
        pair(to, block + "attn.to_q", INNER, HIDDEN, random);
        pair(to, block + "attn.to_k", INNER, HIDDEN, random);
        pair(to, block + "attn.to_v", INNER, HIDDEN, random);
        pair(to, block + "attn.to_out.0", HIDDEN, INNER, random);
        pair(to, block + "ff.net.0.proj", 2 * FFN, HIDDEN, random);
        pair(to, block + "ff.net.2", HIDDEN, FFN, random);
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
