package io.kinema.cuda;

import io.kinema.compute.BackendOptions;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * How a GPU is used.
 *
 * @param attention      which kernels compute attention
 * @param queryTile      rows of queries in one block of flash attention: 64, 128 or, on SM90, 192; the fastest when empty
 * @param architecture   kernel images to load instead of the best for the GPU: 70 runs the PTX for the V100 on a newer one
 * @param maxMemoryBytes most device memory to hold; all that is free when empty
 */
public record CudaOptions(AttentionChoice attention, OptionalInt queryTile, OptionalInt architecture, OptionalLong maxMemoryBytes) {
    private static final List<Integer> TILES = List.of(64, 128, 192);
    /** Compute capabilities that kernels can be for. */
    private static final int OLDEST = 70;
    private static final int MOST = 999;

    public CudaOptions {
        if (queryTile.isPresent() && !TILES.contains(queryTile.getAsInt())) {
            throw new IllegalArgumentException("attention query tile: got " + queryTile.getAsInt() + ", expected 64, 128 or, on SM90, 192");
        }
        if (architecture.isPresent() && (architecture.getAsInt() < OLDEST || architecture.getAsInt() > MOST)) {
            throw new IllegalArgumentException("kernel architecture: got " + architecture.getAsInt() + ", expected " + OLDEST + " or later, such as 70, 80 or 90");
        }
        if (maxMemoryBytes.isPresent() && maxMemoryBytes.getAsLong() < 1) {
            throw new IllegalArgumentException("max device memory: got " + maxMemoryBytes.getAsLong() + ", expected a number of bytes above 0");
        }
    }

    /** Chosen by shape, everything on the device. */
    public static final CudaOptions DEFAULTS = new CudaOptions(AttentionChoice.AUTO, OptionalInt.empty(), OptionalInt.empty(), OptionalLong.empty());

    /** From what any backend is told. */
    static CudaOptions of(BackendOptions options) {
        return new CudaOptions(options.attention().map(AttentionChoice::named).orElse(AttentionChoice.AUTO), options.queryTile(),
                options.architecture(), options.maxMemoryBytes());
    }

    /** The kernels for FP16 and BF16 attention. FP32 operands are always computed in FP32, see docs/cuda.md. */
    public enum AttentionChoice {
        /** On SM90 flash; elsewhere cuDNN where it is found and takes the shape, else flash; what none of them takes, reference. */
        AUTO("auto"),
        /** cuDNN for attention that is not causal, flash for the causal one of a text encoder. */
        CUDNN("cudnn"),
        FLASH("flash"),
        REFERENCE("reference");

        private final String label;

        AttentionChoice(String label) {
            this.label = label;
        }

        /** The name in options and records. */
        public String label() {
            return label;
        }

        /** @throws IllegalArgumentException for other names, with those allowed */
        public static AttentionChoice named(String label) {
            for (AttentionChoice choice : values()) {
                if (choice.label.equals(label)) {
                    return choice;
                }
            }
            throw new IllegalArgumentException("attention backend: got '" + label + "', expected auto, cudnn, flash or reference");
        }
    }
}
