package io.kinema.cuda.ops;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.cuda.kernel.Arguments;
import io.kinema.weights.DType;
import java.util.Optional;
import java.util.OptionalInt;

/** The attention kernels of this build: the reference, the tiled FP32 one, and flash attention on tensor cores. */
enum BuiltInAttention {
    /** One block a query and head, FP32 throughout, heads up to 256 channels. */
    REFERENCE("reference"),
    /** Tiles in FP32, heads up to 128 channels. */
    TILED("tiled"),
    /** FP16 or BF16 on tensor cores, FP32 softmax and accumulation, probabilities rounded to FP16. */
    FLASH("flash");

    /** Which of the flash kernels are loaded. */
    enum Images {
        VOLTA, AMPERE, HOPPER;

        /** The tile that was asked for, or the fastest. @throws IllegalArgumentException when these kernels have no such tile */
        int queryTile(OptionalInt asked) {
            if (asked.isPresent() && asked.getAsInt() > MOST_WARP_TILE && this != HOPPER) {
                throw new IllegalArgumentException("attention query tile: got " + asked.getAsInt() + ", expected 64 or 128 with kernels older than those of SM90");
            }
            return asked.orElse(this == HOPPER ? HOPPER_TILE : MOST_WARP_TILE);
        }
    }

    private static final int REFERENCE_BLOCK = 128;
    private static final int MOST_REFERENCE_CHANNELS = 256;
    private static final int TILED_BLOCK = 256;
    private static final int TILED_QUERIES = 64;
    private static final int MOST_CHANNELS = 128;
    /** Where a warp owns its rows, blocks have at most four of them. */
    private static final int MOST_WARP_TILE = 128;
    /** Three warpgroups of 64 rows. */
    private static final int HOPPER_TILE = 192;
    private static final int VALUE_ROWS = 128;
    private static final int VALUE_BLOCK = 256;

    private final String label;

    BuiltInAttention(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /**
     * @param queryTile rows of queries in one block of flash attention; all give the same bits
     * @param hopper    flash attention by wgmma, where its kernels are loaded
     */
    AttentionKernels on(OpContext context, int queryTile, Images images, Optional<FlashHopper> hopper) {
        BuiltInAttention kind = this;
        return new AttentionKernels() {
            @Override
            public String name() {
                return label;
            }

            @Override
            public Optional<String> refusal(AttentionShape shape) {
                return kind.refusal(shape, images == Images.VOLTA);
            }

            @Override
            public void run(AttentionCall call, Workspace scratch) {
                switch (kind) {
                    case REFERENCE -> reference(context, call);
                    case TILED -> tiled(context, call);
                    case FLASH -> flash(context, call, queryTile, images, hopper);
                }
            }
        };
    }

    private Optional<String> refusal(AttentionShape s, boolean volta) {
        int most = this == REFERENCE ? MOST_REFERENCE_CHANNELS : MOST_CHANNELS;
        if (s.headDim() > most) {
            return Optional.of("heads of " + s.headDim() + " channels, at most " + most);
        }
        if (this == FLASH && s.operand() == DType.F32) {
            return Optional.of("FP32 operands, it takes FP16 and BF16");
        }
        if (this == FLASH && volta && s.operand() == DType.BF16) {
            return Optional.of("BF16 operands, compute capability 7.0 has FP16 only");
        }
        if (this == FLASH && s.keys() == 0) {
            return Optional.of("no keys, at least one is needed");
        }
        return this == FLASH && s.headDim() % 8 != 0 ? Optional.of("heads of " + s.headDim() + " channels, a multiple of 8 is needed") : Optional.empty();
    }

    private static void reference(OpContext c, AttentionCall call) {
        arguments(c, call).type(call.q().dtype());
        c.launcher().launch("kinema_attention_reference", Grid.of(call.q().size(0), call.q().size(1), 1, REFERENCE_BLOCK));
    }

    private static void tiled(OpContext c, AttentionCall call) {
        int d = padded(call.q().size(2));
        arguments(c, call).type(call.q().dtype());
        c.launcher().launch("kinema_attention_f32_d" + d, Grid.of(Math.ceilDiv(call.q().size(0), TILED_QUERIES), call.q().size(1), 1, TILED_BLOCK),
                4 * (96 * (d + 4) + 64 * 36));
    }

    private static void flash(OpContext c, AttentionCall given, int queryTile, Images images, Optional<FlashHopper> hopper) {
        AttentionCall call = given.with(aligned(c, given.q()), aligned(c, given.k()), aligned(c, given.v()), given.out());
        Optional<Values> values = call.v().dtype() == DType.BF16 ? Optional.of(narrowed(c, call.v())) : Optional.empty();
        AttentionCall narrow = values.map(v -> call.with(call.q(), call.k(), v.values(), call.out())).orElse(call);
        if (hopper.isPresent() && hopper.get().takes(narrow)) {
            hopper.get().run(narrow, values.map(Values::largest), queryTile);
            return;
        }
        int d = padded(call.q().size(2));
        int tile = Math.min(queryTile, MOST_WARP_TILE);
        int shared = images == Images.VOLTA ? 2 * ((tile + 32) * (d + 8) + 32 * (d + 16)) : 2 * (tile + 128) * (d + 8);
        Arguments arguments = arguments(c, narrow);
        if (images != Images.VOLTA) {
            arguments.tensor(values.map(Values::largest));
        }
        c.launcher().launch("kinema_flash_" + operand(call) + "_d" + d + "_q" + tile, Grid.of(Math.ceilDiv(call.q().size(0), tile), call.q().size(1), 1, tile), shared);
    }

    /**
     * Values of BF16 attention for the second product.
     *
     * @param values  FP16, each head times a power of two
     * @param largest of each key/value head, which its power is chosen by
     */
    private record Values(Tensor values, Tensor largest) {
    }

    /** In the current scratch frame. The second launch redoes heads that the first one's guess of a scale did not fit, mostly none. */
    private static Values narrowed(OpContext c, Tensor v) {
        Values made = new Values(c.scratch().allocate(DType.F16, v.shape().toArray()), c.scratch().allocate(DType.I32, v.size(1)));
        StridedMoves.fill(c, made.largest(), 0);
        for (int again = 0; again <= 1; again++) {
            c.launcher().arguments().tensor(v).i64(v.stride(0)).i64(v.stride(1)).tensor(made.values()).tensor(made.largest())
                    .i32(v.size(0)).i32(v.size(1)).i32(v.size(2)).i32(again);
            c.launcher().launch("kinema_flash_values", Grid.of(v.size(1), Math.ceilDiv(v.size(0), VALUE_ROWS), 1, VALUE_BLOCK));
        }
        return made;
    }

    /** Channels that the kernels are compiled for. */
    static int padded(int headDim) {
        return headDim <= 64 ? 64 : 128;
    }

    /** The operands' type as kernels are named. */
    static String operand(AttentionCall call) {
        return call.q().dtype() == DType.F16 ? "f16" : "bf16";
    }

    /** Flash attention moves 16 bytes at a time. */
    private static Tensor aligned(OpContext c, Tensor t) {
        boolean fine = t.data().address() % 16 == 0 && t.stride(0) % 8 == 0 && t.stride(1) % 8 == 0;
        return fine ? t : c.contiguous(t);
    }

    /** What all attention kernels take first. */
    static Arguments arguments(OpContext c, AttentionCall call) {
        return c.launcher().arguments().tensor(call.q()).i64(call.q().stride(0)).i64(call.q().stride(1))
                .tensor(call.k()).i64(call.k().stride(0)).i64(call.k().stride(1)).tensor(call.v()).i64(call.v().stride(0)).i64(call.v().stride(1))
                .tensor(call.out()).i64(call.out().stride(0)).i64(call.out().stride(1)).type(call.out().dtype())
                .i32(call.q().size(0)).i32(call.k().size(0)).i32(call.q().size(1)).i32(call.k().size(1)).i32(call.q().size(2))
                .f32(call.scale()).i32(call.causal() ? 1 : 0);
    }
}
