package io.kinema.cuda.ops;

import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.cuda.driver.TensorMap;
import io.kinema.cuda.kernel.Arguments;
import java.util.Optional;

/**
 * Flash attention by wgmma, flash_hopper.cu. A block on every multiprocessor takes runs of query rows, one after the other, which the tensor copy
 * engine brings. Owns the descriptions of operands until it is closed; closing twice is harmless. Used by one thread.
 */
public final class FlashHopper implements AutoCloseable {
    /** Rows of queries that are copied at once, those of one warpgroup. */
    private static final int QUERY_ROWS = 64;
    /** Of flash_items.cuh. */
    static final int STAGES = 4;
    /** Full and empty for each stage of keys and of values, and for two rooms of queries. */
    private static final int BARRIERS = 4 * STAGES + 4;
    /** Tiles begin at multiples of it. */
    private static final int TILE_ALIGNMENT = 1024;
    private static final int VALUE_BYTES = 2;

    private final OpContext c;
    private final TensorMap queries;
    private final TensorMap keys;
    private final TensorMap values;

    public FlashHopper(OpContext context, GpuContext gpu) {
        this.c = context;
        this.queries = new TensorMap(gpu);
        this.keys = new TensorMap(gpu);
        this.values = new TensorMap(gpu);
    }

    /** True for a positive scale, by which the largest score is the largest probability, and for strides that can be described to the copy engine. */
    boolean takes(AttentionCall call) {
        return call.scale() > 0 && describable(call.q()) && describable(call.k()) && describable(call.v());
    }

    private static boolean describable(Tensor t) {
        return t.data().address() % TensorMap.STEP_BYTES == 0 && describable(t, stride(t, 0)) && describable(t, stride(t, 1));
    }

    private static boolean describable(Tensor t, long stride) {
        long bytes = stride * t.dtype().bytes();
        return bytes > 0 && bytes % TensorMap.STEP_BYTES == 0 && bytes < TensorMap.END_OF_STRIDES_BYTES;
    }

    /** Where there is but one row or head, its stride means nothing and may be anything. */
    private static long stride(Tensor t, int axis) {
        return t.size(axis) == 1 ? t.size(2) : t.stride(axis);
    }

    /**
     * Enqueues it.
     *
     * @param call    with heads of a multiple of 8 channels up to 128, and FP16 values
     * @param largest of BF16 attention: what chose the powers of two that its values were multiplied by
     * @param tile    rows of queries in one item: 64, 128 or 192; the same bits
     */
    void run(AttentionCall call, Optional<Tensor> largest, int tile) {
        int d = BuiltInAttention.padded(call.q().size(2));
        int keyRows = keysOfTile(d);
        Arguments arguments = BuiltInAttention.arguments(c, call).tensor(largest);
        arguments.map(queries.describe(heads(call.q()), QUERY_ROWS)).map(keys.describe(heads(call.k()), keyRows)).map(values.describe(heads(call.v()), keyRows));
        long items = (long) Math.ceilDiv(call.q().size(0), tile) * call.q().size(1);
        c.launcher().launch("kinema_flash_wgmma_" + BuiltInAttention.operand(call) + "_d" + d + "_q" + tile,
                Grid.of(Math.min(items, c.gpu().processors()), 2 * tile + 128), sharedBytes(d, tile));
    }

    /** Keys of a tile for heads that are compiled for so many channels. */
    static int keysOfTile(int channels) {
        return channels == 64 ? 128 : 80;
    }

    /** Rooms for queries, stages of keys and values, and barriers. */
    static int sharedBytes(int channels, int tile) {
        int rooms = channels == 64 ? 2 : 1;
        return VALUE_BYTES * channels * (rooms * tile + 2 * STAGES * keysOfTile(channels)) + TILE_ALIGNMENT + Long.BYTES * BARRIERS;
    }

    private static TensorMap.Heads heads(Tensor t) {
        return new TensorMap.Heads(t.data().address(), t.dtype(), t.size(0), t.size(1), t.size(2), stride(t, 0), stride(t, 1));
    }

    @Override
    public void close() {
        queries.close();
        keys.close();
        values.close();
    }
}
