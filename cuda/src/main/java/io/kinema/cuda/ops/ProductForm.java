package io.kinema.cuda.ops;

import io.kinema.weights.DType;
import java.util.Locale;

/**
 * How a kernel of product_hopper.cu is cut: what its launches must know of product_form.cuh, which has the same names and numbers.
 */
enum ProductForm {
    THREE_CONSUMERS(192, 128, 512, 222_256),
    TWO_CONSUMERS(128, 128, 384, 230_464),
    TWO_IN_TURNS(64, 128, 384, 197_696);

    /** Columns of a tile: rows of the weight. */
    static final int TILE_COLUMNS = 256;

    /** What follows a product. */
    enum Step {
        STORE,
        SWIGLU,
        RESIDUAL,
        HEADS;

        /** Columns of the result in one tile: gates take half of the weight's rows. */
        int tileWidth() {
            return this == SWIGLU ? TILE_COLUMNS / 2 : TILE_COLUMNS;
        }
    }

    private final int tileRows;
    private final int weightRows;
    private final int threads;
    private final int sharedBytes;

    ProductForm(int tileRows, int weightRows, int threads, int sharedBytes) {
        this.tileRows = tileRows;
        this.weightRows = weightRows;
        this.threads = threads;
        this.sharedBytes = sharedBytes;
    }

    /** Of the kernels for what follows. */
    static ProductForm of(Step step) {
        return switch (step) {
            case STORE, RESIDUAL -> THREE_CONSUMERS;
            case SWIGLU -> TWO_CONSUMERS;
            case HEADS -> TWO_IN_TURNS;
        };
    }

    /** The kernel's name. */
    static String kernel(DType operands, Step step) {
        return "kinema_product_" + (operands == DType.BF16 ? "bf16_" : "f16_") + step.name().toLowerCase(Locale.ROOT);
    }

    /** Rows of x that a block brings at once: a tile's. */
    int tileRows() {
        return tileRows;
    }

    /** Rows of the weight that a block brings at once, for all blocks of its cluster. */
    int weightRows() {
        return weightRows;
    }

    int threads() {
        return threads;
    }

    /** Dynamic shared memory of a block. */
    int sharedBytes() {
        return sharedBytes;
    }

    /** Blocks of a cluster: together they bring a tile's rows of the weight. */
    int blocks() {
        return TILE_COLUMNS / weightRows;
    }

    /** Rows of a cluster's tile. */
    int clusterRows() {
        return blocks() * tileRows;
    }
}
