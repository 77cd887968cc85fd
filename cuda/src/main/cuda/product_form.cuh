// How product_hopper.cu's kernels are cut, and which kernel has which cut: what those who launch them must know. It compiles for the host too.
// No choice here changes a bit of a result.
#pragma once

namespace kinema {

/** Columns of a tile: rows of the weight. */
constexpr int TILE_COLUMNS = 256;
/** What a step brings of the summed axis. */
constexpr int TILE_DEPTH = 64;
/** What a warp gives to the copy engine at a time: 16 rows of 128 bytes. */
constexpr int PIECE_ROWS = 16;
constexpr int PIECE_BYTES = PIECE_ROWS * 128;
/** Pieces of shared memory that a warp has for values on their way to the copy engine; they take turns. */
constexpr int PIECES = 2;

/**
 * A cluster of BLOCKS computes tiles of rows that lie below each other, and shares the weight's rows. In a block, CONSUMERS warpgroups multiply,
 * two with 232 registers a thread or three with 160, and a producer runs up to STAGES steps ahead. Consumers share a tile, 64 rows each, or TURNS:
 * each has tiles of its own, of 64 rows, and one multiplies while the other's values leave.
 */
template <int BLOCKS_, int CONSUMERS_, int STAGES_, bool TURNS_>
struct Form {
    static constexpr int BLOCKS = BLOCKS_;
    static constexpr int CONSUMERS = CONSUMERS_;
    static constexpr int STAGES = STAGES_;
    static constexpr bool TURNS = TURNS_;

    static constexpr int TILE_ROWS = TURNS ? 64 : CONSUMERS * 64;
    static constexpr int CLUSTER_ROWS = BLOCKS * TILE_ROWS;
    /** Rows of the weight that one block brings for all. */
    static constexpr int WEIGHT_ROWS = TILE_COLUMNS / BLOCKS;
    static constexpr int THREADS = 128 + CONSUMERS * 128;
    /** Warps that read a stage. */
    static constexpr int STAGE_WARPS = TILE_ROWS / 16;
    static constexpr int X_BYTES = TILE_ROWS * TILE_DEPTH * 2;
    static constexpr int W_BYTES = TILE_COLUMNS * TILE_DEPTH * 2;
    static constexpr int STAGE_BYTES = X_BYTES + W_BYTES;
    static constexpr int OUTLETS = STAGES * STAGE_BYTES;
    static constexpr int FULL = OUTLETS + CONSUMERS * 4 * PIECES * PIECE_BYTES;
    static constexpr int EMPTY = FULL + STAGES * 8;
    /** Stages and pieces begin at a multiple of 1024. */
    static constexpr int SHARED_BYTES = EMPTY + STAGES * 8 + 1024;

    static_assert(BLOCKS == 2 || BLOCKS == 4, "a weight's rows in equal parts, none of gates and of what they gate");
    static_assert(CONSUMERS == 2 || CONSUMERS == 3, "registers of two or of three consumers");
    static_assert(!TURNS || CONSUMERS == 2, "two take turns");
    static_assert(SHARED_BYTES <= 227 * 1024, "shared memory of a block");
};

/** Rows of x and of the weight that a block brings at once, threads, dynamic shared bytes. */
template <class FORM>
constexpr bool launches(int tileRows, int weightRows, int threads, int sharedBytes) {
    return FORM::TILE_ROWS == tileRows && FORM::WEIGHT_ROWS == weightRows && FORM::THREADS == threads && FORM::SHARED_BYTES == sharedBytes;
}

/** The fewest bytes through the level 2 cache. */
using ThreeConsumers = Form<2, 3, 3, false>;
static_assert(launches<ThreeConsumers>(192, 128, 512, 222256), "as the host launches it");
/** For what takes registers after the sum: of three consumers FP16 SwiGLU would spill, and BF16 SwiGLU was slower in a whole decode. */
using TwoConsumers = Form<2, 2, 4, false>;
static_assert(launches<TwoConsumers>(128, 128, 384, 230464), "as the host launches it");
/** For what takes long after a short sum. */
using TwoInTurns = Form<2, 2, 4, true>;
static_assert(launches<TwoInTurns>(64, 128, 384, 197696), "as the host launches it");

}  // namespace

// Operand type and what follows, as names have them and as constants; and the form.
#define PRODUCT_KERNELS(EACH) \
    EACH(f16, F16, store, STORE, ThreeConsumers) \
    EACH(f16, F16, swiglu, SWIGLU, TwoConsumers) \
    EACH(f16, F16, residual, RESIDUAL, ThreeConsumers) \
    EACH(f16, F16, heads, HEADS, TwoInTurns) \
    EACH(bf16, BF16, store, STORE, ThreeConsumers) \
    EACH(bf16, BF16, swiglu, SWIGLU, TwoConsumers) \
    EACH(bf16, BF16, residual, RESIDUAL, ThreeConsumers) \
    EACH(bf16, BF16, heads, HEADS, TwoInTurns)
