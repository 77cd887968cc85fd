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

    /** A file in FastVideo's key style that fits the bundled model: it edits whole weights beside the pairs, so all are fused. */
    public static Path writeEditing(Path file) {
        Random random = new Random(7);
        MemoryTensors.Builder tensors = MemoryTensors.builder("nano edits");
        int pairs = 0;
        for (int i = 0; i < NANO.layers(); i++) {
            String block = "transformer_blocks." + i + ".";
            pair(tensors, block + "attn.to_q", "", NANO.inner(), NANO.hidden(), random);
            pair(tensors, block + "ff.net.2", "", NANO.hidden(), NANO.ffn(), random);
            tensors.rounded(block + "norm1.diff", DType.BF16, normal(random, NANO.hidden(), 0.02), NANO.hidden());
            pairs += 4;
        }
        try (MemoryTensors all = tensors.build()) {
            SafetensorsWriter.write(file, all.names().stream().map(all::get).toList(), Map.of("format", "fastvideo-lora-v2", "finetuned_model", "FastVideo/FastH3",
                    "low_rank_tensors", "" + pairs, "diff_tensors", "" + NANO.layers(), "set_weight_tensors", "0"));
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
        pair(to, module, ".default", out, in, random);
    }

    private static void pair(MemoryTensors.Builder to, String module, String name, int out, int in, Random random) {
        to.rounded(module + ".lora_A" + name + ".weight", DType.BF16, normal(random, RANK * in, 1 / Math.sqrt(in)), RANK, in);
        to.rounded(module + ".lora_B" + name + ".weight", DType.BF16, normal(random, out * RANK, 0.02), out, RANK);
    }

    private static float[] normal(Random random, int n, double spread) {
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) (spread * random.nextGaussian());
        }
        return values;
    }
}
