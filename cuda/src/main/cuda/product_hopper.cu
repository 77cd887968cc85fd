// Matrix products out = x w^T on the tensor cores of SM90, FP16 or BF16 operands, FP32 accumulation, with what follows a product done
// before its values leave the registers.
//
// The blocks of a cluster, on neighbouring multiprocessors, compute CLUSTER_ROWS rows by 256 columns at a time, TILE_ROWS rows each. A block's
// producer brings its own rows of x and its share of the weight's rows, and the copy engine delivers that share to all blocks. Consumers,
// warpgroups of 64 rows each, multiply. Clusters go from tile to tile until all are done; the producer runs ahead of the consumers' last steps.
//
// A sum runs over the depth in one order, whatever the number of rows and wherever a row lies: rows computed together or alone have the
// same bits.
#include "product_steps.cuh"

namespace kinema {

/** Which tile is a cluster's next. */
template <class FORM, int EPILOGUE>
struct Tile {
    static constexpr i32 ROWS = FORM::CLUSTER_ROWS;
    static constexpr i32 WIDTH = EPILOGUE == SWIGLU ? TILE_COLUMNS / 2 : TILE_COLUMNS;
    i32 row;
    i32 column;

    __device__ __forceinline__ static i32 down(const Product& p) { return (p.rows + ROWS - 1) / ROWS; }

    __device__ __forceinline__ static i32 across(const Product& p) { return (p.columns + WIDTH - 1) / WIDTH; }

    __device__ __forceinline__ static i32 count(const Product& p) { return down(p) * across(p); }

    __device__ __forceinline__ Tile(const Product& p, i32 index) {
        i32 first = index / (p.together * across(p)) * p.together;
        i32 left = down(p) - first;
        i32 high = left < p.together ? left : p.together;
        i32 within = index - first * across(p);
        row = (first + within % high) * ROWS;
        column = within / high * WIDTH;
    }

    /** A second time only the tiles that have a row to scale; whether there is one is known of runs of 256 rows. */
    __device__ __forceinline__ bool skipped(const Product& p) const {
        if (EPILOGUE != SWIGLU || p.again == nullptr) {
            return false;
        }
        i32 end = row + ROWS;
        end = end < p.rows ? end : p.rows;
        for (i32 run = row >> 8; run << 8 < end; run++) {
            if (p.again[run] != 0) {
                return false;
            }
        }
        return true;
    }
};

/** A place in the ring of stages. */
template <int STAGES>
struct Place {
    u32 stage = 0;
    u32 parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }

    /** Past so many stages that another consumer takes. */
    __device__ __forceinline__ void leap(u32 steps) {
        stage += steps;
        parity ^= stage / STAGES & 1;
        stage %= STAGES;
    }
};

/** Asks for a share of what the tile's values will be added to, so that it is in the cache by then: share `step` of `steps`. */
template <class FORM>
__device__ __forceinline__ void foresee(const Product& p, i32 row, i32 column, i32 lane, i32 step, i32 steps) {
    for (i32 i = step; i < FORM::TILE_ROWS / 4; i += steps) {
        i32 r = row + i * 4 + (lane >> 3);
        i32 n = column + (lane & 7) * 32;
        if (r < p.rows && n < p.columns) {
            asm volatile("prefetch.global.L2 [%0];" ::"l"((const float*) p.out + r * p.outStride + n));
        }
    }
}

/** The first row of the weight that a block brings for a tile. Half of the blocks bring gates, half what they gate. */
template <class FORM, int EPILOGUE>
__device__ __forceinline__ i32 weight_row(const Product& p, i32 column, i32 rank) {
    if (EPILOGUE != SWIGLU) {
        return column + rank * FORM::WEIGHT_ROWS;
    }
    constexpr i32 HALF = FORM::BLOCKS / 2;
    return (rank < HALF ? p.gateRow : p.upRow) + column + rank % HALF * FORM::WEIGHT_ROWS;
}

/** One warp's work. */
template <class FORM, int EPILOGUE>
__device__ __forceinline__ void produce(const TensorMap& x, const TensorMap& w, const Product& p, u32 base, i32 rank) {
    Place<FORM::STAGES> place;
    i32 lane = threadIdx.x & 31;
    i32 tiles = Tile<FORM, EPILOGUE>::count(p);
    i32 steps = (p.depth + TILE_DEPTH - 1) / TILE_DEPTH;
    for (i32 t = blockIdx.x / FORM::BLOCKS; t < tiles; t += gridDim.x / FORM::BLOCKS) {
        Tile<FORM, EPILOGUE> tile(p, t);
        if (tile.skipped(p)) {
            continue;
        }
        i32 row = tile.row + rank * FORM::TILE_ROWS;
        i32 weightRow = weight_row<FORM, EPILOGUE>(p, tile.column, rank);
        for (i32 k = 0; k < steps; k++) {
            u32 stage = base + place.stage * FORM::STAGE_BYTES;
            u32 full = base + FORM::FULL + place.stage * 8;
            barrier_wait(base + FORM::EMPTY + place.stage * 8, place.parity ^ 1);
            if (lane == 0) {
                u32 share = FORM::X_BYTES + rank * (FORM::W_BYTES / FORM::BLOCKS);
                barrier_expect(full, FORM::STAGE_BYTES);
                bring(stage, x, row, k * TILE_DEPTH, full);
                bring_to_all(stage + share, w, weightRow, k * TILE_DEPTH, full, (1 << FORM::BLOCKS) - 1);
            }
            if (EPILOGUE == RESIDUAL) {
                foresee<FORM>(p, row, tile.column, lane, k, steps);
            }
            sync_warp();
            place.advance();
        }
    }
}

// ---- consumers -----------------------------------------------------------------------------------------------------

/** This warp has read the stage, which the producers of all blocks must know: each brings a share of its weights. */
template <class FORM>
__device__ __forceinline__ void release(u32 base, u32 stage, i32 lane) {
    if (lane < FORM::BLOCKS) {
        barrier_arrive_at(base + FORM::EMPTY + stage * 8, lane);
    }
}

/** All columns at once, or, where the assembler has too few registers for that, half after half. */
template <class FORM, int TYPE>
__device__ __forceinline__ void multiply(float (&sum)[128], u64 x, u64 w, int accumulate) {
    if (FORM::CONSUMERS == 2) {
        product_shared<TYPE>(sum, x, w, accumulate);
    } else {
        product_shared<TYPE>(reinterpret_cast<float(&)[64]>(sum[0]), x, w, accumulate);
        product_shared<TYPE>(reinterpret_cast<float(&)[64]>(sum[64]), x, w + (FORM::W_BYTES / 2 >> 4), accumulate);
    }
}

/** What follows the product of a tile. */
template <class FORM, int TYPE, int EPILOGUE>
__device__ __forceinline__ void follow(const Product& p, const float (&sum)[128], Spot at, const float* scales) {
    if (EPILOGUE == STORE && p.outType == F32) {
        store_wide<FORM, false>(p, sum, at);
    } else if (EPILOGUE == STORE) {
        store_narrow<FORM, TYPE>(p, sum, at);
    } else if (EPILOGUE == SWIGLU) {
        swiglu<FORM, TYPE>(p, sum, at, scales);
    } else if (EPILOGUE == RESIDUAL) {
        store_wide<FORM, true>(p, sum, at);
    } else {
        heads<TYPE>(p, sum, at);
    }
}

/** Where this thread's values of a tile belong. Reads anew who it is: known before a product, it would hold a register that the product lacks. */
template <class FORM, int EPILOGUE>
__device__ __forceinline__ Spot spot(const TensorMap& out, u32 base, Tile<FORM, EPILOGUE> tile) {
    i32 thread = thread_anew() - 128;
    i32 warp = thread >> 5;
    i32 lane = thread & 31;
    i32 row = tile.row + cluster_rank() * FORM::TILE_ROWS + (FORM::TURNS ? warp & 3 : warp) * 16 + (lane >> 2);
    return Spot{lane, row, tile.column, &out, base + FORM::OUTLETS + warp * PIECES * PIECE_BYTES};
}

/** The barrier of warps where a consumer waits for its turn. */
__device__ __forceinline__ i32 turn_of(i32 group) { return group + 1; }

template <class FORM, int TYPE, int EPILOGUE>
__device__ __forceinline__ void consume(const TensorMap& out, const Product& p, u32 base, i32 group, const float* scales) {
    Place<FORM::STAGES> place;
    i32 lane = threadIdx.x & 31;
    i32 tiles = Tile<FORM, EPILOGUE>::count(p);
    i32 steps = (p.depth + TILE_DEPTH - 1) / TILE_DEPTH;
    i32 within = FORM::TURNS ? 0 : group * 64;
    float sum[128];
    i32 turn = 0;
    if (FORM::TURNS && group == 1) {
        turn_pass(turn_of(0));
    }
    for (i32 t = blockIdx.x / FORM::BLOCKS; t < tiles; t += gridDim.x / FORM::BLOCKS) {
        if (Tile<FORM, EPILOGUE>(p, t).skipped(p)) {
            continue;
        }
        if (FORM::TURNS && turn++ % FORM::CONSUMERS != group) {
            place.leap(steps);
            continue;
        }
        u32 last = 0;
        if (FORM::TURNS) {
            // A stage's phase has but one bit: it is asked for only when all stages before it have been there.
            turn_wait(turn_of(group));
        }
        for (i32 k = 0; k < steps; k++) {
            barrier_wait(base + FORM::FULL + place.stage * 8, place.parity);
            u32 stage = base + place.stage * FORM::STAGE_BYTES;
            u64 x = descriptor(stage + within * 128, 16);
            u64 w = descriptor(stage + FORM::X_BYTES, 16);
            products_begin();
#pragma unroll
            for (int d = 0; d < TILE_DEPTH / 16; d++) {
                multiply<FORM, TYPE>(sum, x + d * 2, w + d * 2, k > 0 || d > 0);
            }
            products_issued();
            products_done<1>();
            if (k > 0) {
                release<FORM>(base, last, lane);
            }
            last = place.stage;
            place.advance();
        }
        if (FORM::TURNS) {
            turn_pass(turn_of(1 - group));
        }
        products_done<0>();
        settle(sum);
        release<FORM>(base, last, lane);
        follow<FORM, TYPE, EPILOGUE>(p, sum, spot<FORM>(out, base, Tile<FORM, EPILOGUE>(p, t)), scales);
    }
    if (lane == 0) {
        sends_done();
    }
}

template <class FORM, int TYPE, int EPILOGUE>
__device__ __forceinline__ void product(const TensorMap& x, const TensorMap& w, const TensorMap& out, const Product& p, const float* scales) {
    extern __shared__ __align__(16) unsigned char room[];
    u32 base = (shared_address(room) + 1023) & ~1023u;
    i32 rank = (i32) cluster_rank();
    if (threadIdx.x == 0) {
        for (int s = 0; s < FORM::STAGES; s++) {
            barrier_init(base + FORM::FULL + s * 8, 1);
            barrier_init(base + FORM::EMPTY + s * 8, FORM::BLOCKS * FORM::STAGE_WARPS);
        }
        barriers_made();
    }
    cluster_sync();
    i32 group = (i32) (threadIdx.x >> 7) - 1;
    if (group < 0) {
        if (FORM::CONSUMERS == 2) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        } else {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
        }
        if (threadIdx.x < 32) {
            produce<FORM, EPILOGUE>(x, w, p, base, rank);
        }
    } else {
        if (FORM::CONSUMERS == 2) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        } else {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
        }
        consume<FORM, TYPE, EPILOGUE>(out, p, base, group, scales);
    }
    // A block must outlive what the others still deliver to it.
    cluster_leave();
}

}  // namespace

#define PRODUCT(name, type, step, epilogue, form)                                                                                  \
    KERNEL __cluster_dims__(form::BLOCKS, 1, 1) __launch_bounds__(form::THREADS, 1)                                                \
            kinema_product_##name##_##step(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,               \
                                           const __grid_constant__ TensorMap out, const __grid_constant__ Product p,               \
                                           const float* scales) {                                                                  \
        product<form, type, epilogue>(x, w, out, p, scales);                                                                       \
    }
PRODUCT_KERNELS(PRODUCT)
