// Matrix products out = x w^T on the tensor cores of SM90, FP16 or BF16 operands, FP32 accumulation, with what follows a product done
// before its values leave the registers.
//
// Two blocks on neighbouring multiprocessors (a cluster) compute 256 rows by 256 columns at a time, each 128 rows. A block's producer
// brings its own rows of x and half of the weight's rows, and the copy engine delivers that half to both blocks. Two consumers, warpgroups
// of 64 rows each, multiply. Clusters go from tile to tile until all are done; the producer runs ahead of the consumers' last steps.
//
// A sum runs over the depth in one order, whatever the number of rows and wherever a row lies: rows computed together or alone have the
// same bits.
#include "product_steps.cuh"

namespace kinema {

constexpr i32 TILE_COLUMNS = 256;
constexpr i32 TILE_DEPTH = 64;
constexpr int STAGES = 4;
constexpr u32 X_BYTES = TILE_ROWS * TILE_DEPTH * 2;
constexpr u32 W_BYTES = TILE_COLUMNS * TILE_DEPTH * 2;
constexpr u32 STAGE_BYTES = X_BYTES + W_BYTES;
constexpr u32 BARRIERS = STAGES * STAGE_BYTES;
constexpr u32 FULL = BARRIERS;
constexpr u32 EMPTY = BARRIERS + STAGES * 8;
constexpr u32 CONSUMER_WARPS = 8;
/** Pairs of row tiles that are computed together with all columns before the next ones: what they share stays in the cache. */
constexpr i32 GROUP = 8;

/** Which tile is a cluster's next. */
template <int EPILOGUE>
struct Tile {
    static constexpr i32 WIDTH = EPILOGUE == SWIGLU ? TILE_COLUMNS / 2 : TILE_COLUMNS;
    i32 pair;
    i32 column;

    __device__ __forceinline__ static i32 count(const Product& p) { return p.pairs() * ((p.columns + WIDTH - 1) / WIDTH); }

    __device__ __forceinline__ Tile(const Product& p, i32 index) {
        i32 across = (p.columns + WIDTH - 1) / WIDTH;
        i32 group = index / (GROUP * across);
        i32 first = group * GROUP;
        i32 left = p.pairs() - first;
        i32 high = left < GROUP ? left : GROUP;
        i32 within = index - group * GROUP * across;
        pair = first + within % high;
        column = within / high * WIDTH;
    }

    /** A second time only the pairs that have a row to scale. */
    __device__ __forceinline__ bool skipped(const Product& p) const { return EPILOGUE == SWIGLU && p.again != nullptr && p.again[pair] == 0; }
};

/** A place in the ring of stages. */
struct Place {
    u32 stage = 0;
    u32 parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/** Asks for the rows that the tile's values will be added to, so that they are in the cache by then. */
__device__ __forceinline__ void foresee(const Product& p, i32 row, i32 column, i32 lane) {
    for (i32 i = lane; i < TILE_ROWS * 8; i += 32) {
        i32 r = row + (i >> 3);
        i32 n = column + (i & 7) * 32;
        if (r < p.rows && n < p.columns) {
            asm volatile("prefetch.global.L2 [%0];" ::"l"((const float*) p.out + r * p.outStride + n));
        }
    }
}

/** One warp's work. */
template <int EPILOGUE>
__device__ __forceinline__ void produce(const TensorMap& x, const TensorMap& w, const Product& p, u32 base, u32 rank) {
    Place place;
    i32 lane = threadIdx.x & 31;
    i32 tiles = Tile<EPILOGUE>::count(p);
    i32 steps = (p.depth + TILE_DEPTH - 1) / TILE_DEPTH;
    for (i32 t = blockIdx.x >> 1; t < tiles; t += gridDim.x >> 1) {
        Tile<EPILOGUE> tile(p, t);
        if (tile.skipped(p)) {
            continue;
        }
        i32 row = (tile.pair * 2 + rank) * TILE_ROWS;
        i32 half = tile.column + (EPILOGUE != SWIGLU ? (i32) rank * (TILE_COLUMNS / 2) : rank == 0 ? p.gateRow : p.upRow);
        if (EPILOGUE == RESIDUAL) {
            foresee(p, row, tile.column, lane);
        }
        for (i32 k = 0; k < steps; k++) {
            u32 stage = base + place.stage * STAGE_BYTES;
            u32 full = base + FULL + place.stage * 8;
            barrier_wait(base + EMPTY + place.stage * 8, place.parity ^ 1);
            if (lane == 0) {
                barrier_expect(full, STAGE_BYTES);
                bring(stage, x, row, k * TILE_DEPTH, full);
                bring_to_all(stage + X_BYTES + rank * (W_BYTES / 2), w, half, k * TILE_DEPTH, full, 3);
            }
            sync_warp();
            place.advance();
        }
    }
}

// ---- consumers -----------------------------------------------------------------------------------------------------

/** This warp has read the stage, in both blocks: half of its weights came from the other one's producer. */
__device__ __forceinline__ void release(u32 base, u32 stage, i32 lane) {
    if (lane < 2) {
        barrier_arrive_at(base + EMPTY + stage * 8, lane);
    }
}

template <int TYPE, int EPILOGUE>
__device__ __forceinline__ void consume(const Product& p, u32 base, u32 rank, i32 group, const float* scales) {
    Place place;
    i32 lane = threadIdx.x & 31;
    i32 warp = (threadIdx.x >> 5) & 3;
    i32 tiles = Tile<EPILOGUE>::count(p);
    i32 steps = (p.depth + TILE_DEPTH - 1) / TILE_DEPTH;
    float sum[128];
    for (i32 t = blockIdx.x >> 1; t < tiles; t += gridDim.x >> 1) {
        Tile<EPILOGUE> tile(p, t);
        if (tile.skipped(p)) {
            continue;
        }
        u32 last = 0;
        for (i32 k = 0; k < steps; k++) {
            barrier_wait(base + FULL + place.stage * 8, place.parity);
            u32 stage = base + place.stage * STAGE_BYTES;
            u64 x = descriptor(stage + group * 64 * 128, 16);
            u64 w = descriptor(stage + X_BYTES, 16);
            products_begin();
#pragma unroll
            for (int d = 0; d < TILE_DEPTH / 16; d++) {
                product_shared<TYPE>(sum, x + d * 2, w + d * 2, k > 0 || d > 0);
            }
            products_issued();
            products_done<1>();
            if (k > 0) {
                release(base, last, lane);
            }
            last = place.stage;
            place.advance();
        }
        products_done<0>();
        settle(sum);
        release(base, last, lane);
        Spot at{lane, (i32) (tile.pair * 2 + rank) * TILE_ROWS + group * 64 + warp * 16 + (lane >> 2), tile.column};
        if (EPILOGUE == STORE) {
            store(p, sum, at);
        } else if (EPILOGUE == SWIGLU) {
            swiglu(p, sum, at, scales);
        } else if (EPILOGUE == RESIDUAL) {
            residual(p, sum, at);
        } else {
            heads(p, sum, at);
        }
    }
}

template <int TYPE, int EPILOGUE>
__device__ __forceinline__ void product(const TensorMap& x, const TensorMap& w, const Product& p, const float* scales) {
    extern __shared__ __align__(16) unsigned char room[];
    u32 base = (shared_address(room) + 1023) & ~1023u;
    u32 rank = cluster_rank();
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(base + FULL + s * 8, 1);
            barrier_init(base + EMPTY + s * 8, 2 * CONSUMER_WARPS);
        }
        barriers_made();
    }
    cluster_sync();
    i32 group = (i32) (threadIdx.x >> 7) - 1;
    if (group < 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32) {
            produce<EPILOGUE>(x, w, p, base, rank);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume<TYPE, EPILOGUE>(p, base, rank, group, scales);
    }
    // A block must outlive what the other one still delivers to it.
    cluster_leave();
}

}  // namespace

#define PRODUCT(name, type, step, epilogue)                                                                                        \
    KERNEL __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)                                                                     \
            kinema_product_##name##_##step(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,               \
                                           const __grid_constant__ Product p, const float* scales) {                              \
        product<type, epilogue>(x, w, p, scales);                                                                                  \
    }

PRODUCT(f16, F16, store, STORE)
PRODUCT(f16, F16, swiglu, SWIGLU)
PRODUCT(f16, F16, residual, RESIDUAL)
PRODUCT(f16, F16, heads, HEADS)
PRODUCT(bf16, BF16, store, STORE)
PRODUCT(bf16, BF16, swiglu, SWIGLU)
PRODUCT(bf16, BF16, residual, RESIDUAL)
PRODUCT(bf16, BF16, heads, HEADS)
