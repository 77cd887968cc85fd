// Matrix products out = x w^T on the tensor cores of SM90, FP16 or BF16 operands, FP32 accumulation, with what follows a product done
// before its values leave the registers.
//
// Two blocks on neighbouring multiprocessors (a cluster) compute 2 TILE_ROWS rows by 256 columns at a time, half of the rows each. A block's
// producer brings its own rows of x and half of the weight's rows, and the copy engine delivers that half to both blocks. Consumers,
// warpgroups of 64 rows each, multiply. Clusters go from tile to tile until all are done; the producer runs ahead of the consumers' last steps.
//
// A sum runs over the depth in one order, whatever the number of rows and wherever a row lies: rows computed together or alone have the
// same bits.
#include "product_steps.cuh"

namespace kinema {

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

    /** A second time only the pairs that have a row to scale; whether there is one is known of runs of 256 rows. */
    __device__ __forceinline__ bool skipped(const Product& p) const {
        if (EPILOGUE != SWIGLU || p.again == nullptr) {
            return false;
        }
        i32 end = (pair + 1) * 2 * TILE_ROWS;
        end = end < p.rows ? end : p.rows;
        for (i32 run = pair * 2 * TILE_ROWS >> 8; run << 8 < end; run++) {
            if (p.again[run] != 0) {
                return false;
            }
        }
        return true;
    }
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

    /** Past so many stages that another consumer takes. */
    __device__ __forceinline__ void leap(u32 steps) {
        stage += steps;
        parity ^= stage / STAGES & 1;
        stage %= STAGES;
    }
};

/** Asks for a share of what the tile's values will be added to, so that it is in the cache by then: share `step` of `steps`. */
__device__ __forceinline__ void foresee(const Product& p, i32 row, i32 column, i32 lane, i32 step, i32 steps) {
    for (i32 i = step; i < TILE_ROWS / 4; i += steps) {
        i32 r = row + i * 4 + (lane >> 3);
        i32 n = column + (lane & 7) * 32;
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
        for (i32 k = 0; k < steps; k++) {
            u32 stage = base + place.stage * STAGE_BYTES;
            u32 full = base + FULL + place.stage * 8;
            barrier_wait(base + EMPTY + place.stage * 8, place.parity ^ 1);
            if (lane == 0) {
                barrier_expect(full, STAGE_BYTES);
                bring(stage, x, row, k * TILE_DEPTH, full);
                bring_to_all(stage + X_BYTES + rank * (W_BYTES / 2), w, half, k * TILE_DEPTH, full, 3);
            }
            if (EPILOGUE == RESIDUAL && FORESEEN) {
                foresee(p, row, tile.column, lane, k, steps);
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

/** All columns at once, or, where the assembler has too few registers for that, half after half. */
template <int TYPE>
__device__ __forceinline__ void multiply(float (&sum)[128], u64 x, u64 w, int accumulate) {
    if (CONSUMERS == 2) {
        product_shared<TYPE>(sum, x, w, accumulate);
    } else {
        product_shared<TYPE>(reinterpret_cast<float(&)[64]>(sum[0]), x, w, accumulate);
        product_shared<TYPE>(reinterpret_cast<float(&)[64]>(sum[64]), x, w + (W_BYTES / 2 >> 4), accumulate);
    }
}

/** Which of the barriers of warps lets a consumer follow another. */
__device__ __forceinline__ i32 behind(i32 group) { return group + 1; }

template <int TYPE, int EPILOGUE>
__device__ __forceinline__ void consume(const TensorMap& out, const Product& p, u32 base, u32 rank, i32 group, const float* scales) {
    Place place;
    i32 lane = threadIdx.x & 31;
    i32 warp = (threadIdx.x >> 5) & 3;
    i32 tiles = Tile<EPILOGUE>::count(p);
    i32 steps = (p.depth + TILE_DEPTH - 1) / TILE_DEPTH;
    float sum[128];
    i32 turn = 0;
    if (ALTERNATE && group == 1) {
        turn_pass(behind(0));
    }
    for (i32 t = blockIdx.x >> 1; t < tiles; t += gridDim.x >> 1) {
        Tile<EPILOGUE> tile(p, t);
        if (tile.skipped(p)) {
            continue;
        }
        if (ALTERNATE && turn++ % CONSUMERS != group) {
            place.leap(steps);
            continue;
        }
        u32 last = 0;
        if (ALTERNATE) {
            // A stage's phase has but one bit: it is asked for only when all stages before it have been there.
            turn_wait(behind(group));
        }
        bool first = LEAD > 0 && t == (i32) (blockIdx.x >> 1);
        if (first && group > 0) {
            turn_wait(behind(group - 1));
        }
        for (i32 k = 0; k < steps; k++) {
            barrier_wait(base + FULL + place.stage * 8, place.parity);
            u32 stage = base + place.stage * STAGE_BYTES;
            u64 x = descriptor(stage + (ALTERNATE ? 0 : group * 64 * 128), 16);
            u64 w = descriptor(stage + X_BYTES, 16);
            products_begin();
#pragma unroll
            for (int d = 0; d < TILE_DEPTH / 16; d++) {
                multiply<TYPE>(sum, x + d * 2, w + d * 2, k > 0 || d > 0);
            }
            products_issued();
            products_done<1>();
            if (k > 0) {
                release(base, last, lane);
            }
            if (first && group + 1 < CONSUMERS && k == (LEAD < steps ? LEAD : steps) - 1) {
                turn_pass(behind(group));
            }
            last = place.stage;
            place.advance();
        }
        if (ALTERNATE) {
            turn_pass(behind(1 - group));
        }
        products_done<0>();
        settle(sum);
        release(base, last, lane);
        Spot at{lane, (i32) (tile.pair * 2 + rank) * TILE_ROWS + (ALTERNATE ? 0 : group * 64) + warp * 16 + (lane >> 2), tile.column, &out,
                base + OUTLETS + (group * 4 + warp) * PIECES * PIECE_BYTES};
        if (EPILOGUE == STORE) {
            store<TYPE>(p, sum, at);
        } else if (EPILOGUE == SWIGLU) {
            swiglu<TYPE>(p, sum, at, scales);
        } else if (EPILOGUE == RESIDUAL && REDUCED) {
            reduced(p, sum, at);
        } else if (EPILOGUE == RESIDUAL) {
            residual(p, sum, at);
        } else {
            heads<TYPE>(p, sum, at);
        }
    }
    if (STAGED && lane == 0) {
        sends_done();
    }
}

template <int TYPE, int EPILOGUE>
__device__ __forceinline__ void product(const TensorMap& x, const TensorMap& w, const TensorMap& out, const Product& p, const float* scales) {
    extern __shared__ __align__(16) unsigned char room[];
    u32 base = (shared_address(room) + 1023) & ~1023u;
    u32 rank = cluster_rank();
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(base + FULL + s * 8, 1);
            barrier_init(base + EMPTY + s * 8, 2 * STAGE_WARPS);
        }
        barriers_made();
    }
    cluster_sync();
    i32 group = (i32) (threadIdx.x >> 7) - 1;
    if (group < 0) {
        if (CONSUMERS == 2) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        } else {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
        }
        if (threadIdx.x < 32) {
            produce<EPILOGUE>(x, w, p, base, rank);
        }
    } else {
        if (CONSUMERS == 2) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        } else {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
        }
        consume<TYPE, EPILOGUE>(out, p, base, rank, group, scales);
    }
    // A block must outlive what the other one still delivers to it.
    cluster_leave();
}

}  // namespace

#define PRODUCT(name, type, step, epilogue)                                                                                        \
    KERNEL __cluster_dims__(2, 1, 1) __launch_bounds__(THREADS, 1)                                                                 \
            kinema_product_##name##_##step(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,               \
                                           const __grid_constant__ TensorMap out, const __grid_constant__ Product p,               \
                                           const float* scales) {                                                                  \
        product<type, epilogue>(x, w, out, p, scales);                                                                             \
    }

PRODUCT(f16, F16, store, STORE)
PRODUCT(f16, F16, swiglu, SWIGLU)
PRODUCT(f16, F16, residual, RESIDUAL)
PRODUCT(bf16, BF16, store, STORE)
PRODUCT(bf16, BF16, swiglu, SWIGLU)
PRODUCT(bf16, BF16, residual, RESIDUAL)
#if PRODUCT_CONSUMERS == 2
// Of three consumers none has the registers for it.
PRODUCT(f16, F16, heads, HEADS)
PRODUCT(bf16, BF16, heads, HEADS)
#endif
