package io.kinema.model.adapter;

import io.kinema.model.dit.DitConfig;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.StoredTensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;

/** One tiny random adapter, written in any of the key styles that people have. */
public final class AdapterFixture {
    public static final int ALPHA = 4;

    private final DitConfig config;
    private final int rank;
    /** Factors by module of the diffusers layout; queries, keys and values of a block share one A. */
    private final Map<String, Factors> modules = new LinkedHashMap<>();

    /** A [rank, in] and B [out, rank]. */
    record Factors(float[] a, float[] b, int out, int in) {
    }

    /** A tensor to be written. */
    public record Entry(float[] values, long... dims) {
    }

    public AdapterFixture(DitConfig config, int rank, long seed, boolean adaln) {
        this.config = config;
        this.rank = rank;
        Random random = new Random(seed);
        for (String block : blocks()) {
            float[] shared = normal(random, rank, config.hidden(), 1 / Math.sqrt(config.hidden()));
            for (String name : List.of("attn.to_q", "attn.to_k", "attn.to_v")) {
                modules.put(block + name, new Factors(shared, normal(random, config.inner(), rank, 0.1), config.inner(), config.hidden()));
            }
            add(random, block + "attn.to_out.0", config.hidden(), config.inner());
            add(random, block + "ff.net.0.proj", 2 * config.ffn(), config.hidden());
            add(random, block + "ff.net.2", config.hidden(), config.ffn());
            if (adaln && block.startsWith("transformer")) {
                add(random, block + "adaln_proj.linear", 18 * config.hidden(), config.timeDim());
            }
        }
        if (adaln) {
            add(random, "norm_out.linear", 2 * config.hidden(), config.timeDim());
        }
    }

    private List<String> blocks() {
        List<String> blocks = new ArrayList<>();
        for (int i = 0; i < config.refinerLayers(); i++) {
            blocks.add("token_refiner.refiner_blocks." + i + ".");
        }
        for (int i = 0; i < config.layers(); i++) {
            blocks.add("transformer_blocks." + i + ".");
        }
        return blocks;
    }

    private void add(Random random, String module, int out, int in) {
        modules.put(module, new Factors(normal(random, rank, in, 1 / Math.sqrt(in)), normal(random, out, rank, 0.1), out, in));
    }

    private static float[] normal(Random random, int rows, int columns, double spread) {
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (spread * random.nextGaussian());
        }
        return values;
    }

    public int modules() {
        return modules.size();
    }

    /** Diffusers names with these endings, as in {@code .lora_A.weight}. */
    public Map<String, Entry> diffusers(String prefix, String down, String up, boolean alphas) {
        Map<String, Entry> out = new LinkedHashMap<>();
        modules.forEach((module, f) -> put(out, prefix + module, down, up, f, alphas ? ALPHA : 0));
        return out;
    }

    /** What fused queries, keys and values look like in a file. */
    public enum Fused { SHARED, BLOCK_DIAGONAL, INTERLEAVED, SPLIT }

    /** Names of the original checkpoint. */
    public Map<String, Entry> original(String prefix, String down, String up, boolean alphas, Fused fused) {
        Map<String, Entry> out = new LinkedHashMap<>();
        original(fused, (name, f) -> put(out, prefix + name, down, up, f, alphas ? ALPHA * (f.a().length / f.in()) / rank : 0));
        return out;
    }

    /** Names of the original checkpoint with every dot of a module an underscore. */
    public Map<String, Entry> flattened() {
        Map<String, Entry> out = new LinkedHashMap<>();
        original(Fused.SHARED, (name, f) -> put(out, "lora_unet_" + name.replace('.', '_'), ".lora_down.weight", ".lora_up.weight", f, ALPHA));
        return out;
    }

    private void original(Fused fused, BiConsumer<String, Factors> to) {
        modules.forEach((module, f) -> {
            String name = module.replace("token_refiner.refiner_blocks.", "token_refiner.blocks.").replace("transformer_blocks.", "blocks.");
            String block = module.substring(0, module.lastIndexOf("attn.") + 5);
            if (module.endsWith("attn.to_q") && fused != Fused.SPLIT) {
                to.accept(name.replace("to_q", "qkv_proj"), fuse(block, fused));
            } else if (module.endsWith("attn.to_q") || module.endsWith("attn.to_k") || module.endsWith("attn.to_v")) {
                if (fused == Fused.SPLIT) {
                    to.accept(name.replaceAll("to_([qkv])$", "$1_proj"), f);
                }
            } else if (module.endsWith("ff.net.0.proj")) {
                to.accept(name.replace("ff.net.0.proj", "mlp.fc1"), new Factors(f.a(), swapHalves(f.b()), f.out(), f.in()));
            } else {
                to.accept(name.replace("to_out.0", "out_proj").replace("ff.net.2", "mlp.fc2").replace("norm_out.linear", "final_layer.adaln_proj.linear"), f);
            }
        });
    }

    private Factors fuse(String block, Fused how) {
        Factors[] parts = {modules.get(block + "to_q"), modules.get(block + "to_k"), modules.get(block + "to_v")};
        int inner = config.inner();
        int width = how == Fused.BLOCK_DIAGONAL ? 3 * rank : rank;
        float[] a = new float[width * config.hidden()];
        float[] b = new float[3 * inner * width];
        for (int p = 0; p < 3; p++) {
            int at = how == Fused.BLOCK_DIAGONAL ? p * rank : 0;
            System.arraycopy(parts[p].a(), 0, a, at * config.hidden(), rank * config.hidden());
            for (int row = 0; row < inner; row++) {
                int head = row / config.headDim();
                int to = how == Fused.INTERLEAVED ? (head * 3 + p) * config.headDim() + row % config.headDim() : p * inner + row;
                System.arraycopy(parts[p].b(), row * rank, b, to * width + at, rank);
            }
        }
        return new Factors(a, b, 3 * inner, config.hidden());
    }

    private static float[] swapHalves(float[] b) {
        float[] swapped = new float[b.length];
        System.arraycopy(b, b.length / 2, swapped, 0, b.length / 2);
        System.arraycopy(b, 0, swapped, b.length / 2, b.length / 2);
        return swapped;
    }

    private static void put(Map<String, Entry> out, String name, String down, String up, Factors f, double alpha) {
        int rank = f.a().length / f.in();
        out.put(name + down, new Entry(f.a(), rank, f.in()));
        out.put(name + up, new Entry(f.b(), f.out(), rank));
        if (alpha != 0) {
            out.put(name + ".alpha", new Entry(new float[] {(float) alpha}));
        }
    }

    /** Writes a file. */
    public static Path write(Path file, Map<String, Entry> entries, Map<String, String> metadata) {
        MemoryTensors.Builder builder = MemoryTensors.builder("fixture");
        entries.forEach((name, e) -> builder.rounded(name, DType.F32, e.values(), e.dims()));
        try (MemoryTensors tensors = builder.build()) {
            List<StoredTensor> all = tensors.names().stream().map(tensors::get).toList();
            SafetensorsWriter.write(file, all, metadata);
        }
        return file;
    }
}
