// Matrix products out = x w^T on the tensor cores of SM90, FP16 or BF16 operands, FP32 accumulation, with what follows a product done
// before its values leave the registers.
//
// Two blocks on neighbouring multiprocessors (a cluster) compute 256 rows by 256 columns at a time, each 128 rows. A block's producer
// brings its own rows of x and half of the weight's rows, and the copy engine delivers that half to both blocks. Two consumers, warpgroups
// of 64 rows each, multiply. Clusters go from tile to tile until all are done; the producer runs ahead of the consumers' last steps.
//
// A sum runs over the depth in one order, whatever the number of rows and wherever a row lies: rows computed together or alone have the
// same bits.
#include "wgmma.cuh"

namespace kinema {

constexpr i32 TILE_ROWS = 128;
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

/** What follows a product. */
enum Epilogue {
    /** Values are stored. */
    STORE,
    /** The left half of a tile's columns are gates, the right half what they gate. */
    SWIGLU,
    /** Values times a column's gate are added to what is there. */
    RESIDUAL,
    /** Every 64 columns are a head: rounded, normalised, its first 48 channels rotated, stored. */
    HEADS,
};

/** Everything but the operands. */
struct Product {
    const float* rowScale;
    const float* bias;
    void* out;
    i64 outStride;
    const float* gate;
    const float* cosine;
    const float* sine;
    i64 tableStride;
    u32* largest;
    const i32* again;
    i32 rows;
    i32 columns;
    i32 depth;
    i32 outType;
    i32 gateRow;
    i32 upRow;
    i32 rowsPerToken;
    float eps;

    __device__ __forceinline__ i32 pairs() const { return (rows + 2 * TILE_ROWS - 1) / (2 * TILE_ROWS); }

    __device__ __forceinline__ float scale(i32 row) const { return rowScale == nullptr ? 1.0f : rowScale[row < rows ? row : 0]; }
};

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

// ---- epilogues: value i of a thread is column (i / 4) * 8 + (lane % 4) * 2 + i % 2 of row lane / 4 + (i / 2 % 2) * 8 -----------------

/** Four lanes hold two columns each of four blocks of eight; afterwards each holds all eight of one block. */
__device__ __forceinline__ Words gather(u32 a, u32 b, u32 c, u32 d, i32 lane) {
    bool odd = lane & 1;
    u32 t = shuffle_xor(odd ? a : b, 1);
    a = odd ? t : a;
    b = odd ? b : t;
    t = shuffle_xor(odd ? c : d, 1);
    c = odd ? t : c;
    d = odd ? d : t;
    bool high = lane & 2;
    t = shuffle_xor(high ? a : c, 2);
    a = high ? t : a;
    c = high ? c : t;
    t = shuffle_xor(high ? b : d, 2);
    b = high ? t : b;
    d = high ? d : t;
    return Words{{a, b, c, d}};
}

__device__ __forceinline__ u32 pack(i32 type, float low, float high) { return type == F16 ? pack_f16(low, high) : pack_bf16(low, high); }

struct Two {
    float x;
    float y;
};

/** Two floats at an even column; zeros where there are none. */
__device__ __forceinline__ Two two(const float* p, i64 at, bool there) {
    Two v{0.0f, 0.0f};
    if (p != nullptr && there) {
        u64 bits = *(const u64*) (p + at);
        v.x = bits_float((u32) bits);
        v.y = bits_float((u32) (bits >> 32));
    }
    return v;
}

__device__ __forceinline__ void put(float* p, i64 at, float x, float y) { *(u64*) (p + at) = (u64) float_bits(x) | ((u64) float_bits(y) << 32); }

/** Where a thread's values belong. */
struct Spot {
    i32 lane;
    i32 row;
    i32 column;
};

__device__ __forceinline__ void store(const Product& p, const float (&v)[128], Spot at) {
    i32 pair = (at.lane & 3) * 2;
    float scale[2] = {p.scale(at.row), p.scale(at.row + 8)};
#pragma unroll
    for (int i = 0; i < 32; i += 4) {
        Two bias[4];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            i32 n = at.column + (i + b) * 8 + pair;
            bias[b] = two(p.bias, n, n < p.columns);
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            i32 row = at.row + r * 8;
            float y[8];
#pragma unroll
            for (int b = 0; b < 4; b++) {
                y[2 * b] = v[(i + b) * 4 + r * 2] * scale[r] + bias[b].x;
                y[2 * b + 1] = v[(i + b) * 4 + r * 2 + 1] * scale[r] + bias[b].y;
            }
            if (p.outType == F32) {
#pragma unroll
                for (int b = 0; b < 4; b++) {
                    i32 n = at.column + (i + b) * 8 + pair;
                    if (row < p.rows && n < p.columns) {
                        put((float*) p.out, row * p.outStride + n, y[2 * b], y[2 * b + 1]);
                    }
                }
            } else {
                Words words = gather(pack(p.outType, y[0], y[1]), pack(p.outType, y[2], y[3]), pack(p.outType, y[4], y[5]), pack(p.outType, y[6], y[7]),
                                     at.lane);
                i32 n = at.column + (i + (at.lane & 3)) * 8;
                if (row < p.rows && n < p.columns) {
                    *(Words*) ((u16*) p.out + row * p.outStride + n) = words;
                }
            }
        }
    }
}

__device__ __forceinline__ void residual(const Product& p, const float (&v)[128], Spot at) {
    i32 pair = (at.lane & 3) * 2;
    float scale[2] = {p.scale(at.row), p.scale(at.row + 8)};
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
        Two sum[8][2];
#pragma unroll
        for (int b = 0; b < 8; b++) {
            i32 n = at.column + (i + b) * 8 + pair;
#pragma unroll
            for (int r = 0; r < 2; r++) {
                i32 row = at.row + r * 8;
                sum[b][r] = two((const float*) p.out, row * p.outStride + n, row < p.rows && n < p.columns);
            }
        }
#pragma unroll
        for (int b = 0; b < 8; b++) {
            i32 n = at.column + (i + b) * 8 + pair;
            Two bias = two(p.bias, n, n < p.columns);
            Two gate = two(p.gate, n, n < p.columns);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                i32 row = at.row + r * 8;
                if (row < p.rows && n < p.columns) {
                    float x = v[(i + b) * 4 + r * 2] * scale[r] + bias.x;
                    float y = v[(i + b) * 4 + r * 2 + 1] * scale[r] + bias.y;
                    put((float*) p.out, row * p.outStride + n, sum[b][r].x + gate.x * x, sum[b][r].y + gate.y * y);
                }
            }
        }
    }
}

/** Also notes each row's largest magnitude where that is asked for, or divides by the scale that the first time found. */
__device__ __forceinline__ void swiglu(const Product& p, const float (&v)[128], Spot at, const float* scales) {
    i32 pair = (at.lane & 3) * 2;
    float scale[2] = {p.scale(at.row), p.scale(at.row + 8)};
    float down[2] = {1.0f, 1.0f};
    u32 largest[2] = {0, 0};
    if (scales != nullptr) {
        down[0] = at.row < p.rows ? inverse_power(scales[at.row]) : 1.0f;
        down[1] = at.row + 8 < p.rows ? inverse_power(scales[at.row + 8]) : 1.0f;
    }
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
        Two gateBias[4];
        Two upBias[4];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            i32 n = at.column + (i + b) * 8 + pair;
            gateBias[b] = two(p.bias, p.gateRow + n, n < p.columns);
            upBias[b] = two(p.bias, p.upRow + n, n < p.columns);
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            i32 row = at.row + r * 8;
            u32 w[4];
#pragma unroll
            for (int b = 0; b < 4; b++) {
                i32 n = at.column + (i + b) * 8 + pair;
                const int g = (i + b) * 4 + r * 2;
                float x = silu(v[g] * scale[r] + gateBias[b].x) * (v[64 + g] * scale[r] + upBias[b].x);
                float y = silu(v[g + 1] * scale[r] + gateBias[b].y) * (v[64 + g + 1] * scale[r] + upBias[b].y);
                u32 bits = float_bits(LargestBits::of(fabsf(x), fabsf(y)));
                largest[r] = n < p.columns && bits > largest[r] ? bits : largest[r];
                w[b] = pack(p.outType, x * down[r], y * down[r]);
            }
            Words words = gather(w[0], w[1], w[2], w[3], at.lane);
            i32 n = at.column + (i + (at.lane & 3)) * 8;
            if (row < p.rows && n < p.columns) {
                *(Words*) ((u16*) p.out + row * p.outStride + n) = words;
            }
        }
    }
    if (p.largest != nullptr && scales == nullptr) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u32 other = shuffle_xor(largest[r], 1);
            u32 all = other > largest[r] ? other : largest[r];
            other = shuffle_xor(all, 2);
            all = other > all ? other : all;
            i32 row = at.row + r * 8;
            if ((at.lane & 3) == 0 && row < p.rows) {
                asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p.largest + row), "r"(all) : "memory");
            }
        }
    }
}

__device__ __forceinline__ void heads(const Product& p, const float (&v)[128], Spot at) {
    constexpr int TURNED = 6;
    constexpr int HALF = 3;
    i32 pair = (at.lane & 3) * 2;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        i32 row = at.row + r * 8;
        bool live = row < p.rows;
        i64 table = (i64) (live ? row / p.rowsPerToken : 0) * p.tableStride + pair;
        float scale = p.scale(row);
        Two c[TURNED];
        Two s[TURNED];
#pragma unroll
        for (int b = 0; b < TURNED; b++) {
            c[b] = two(p.cosine, table + b * 8, true);
            s[b] = two(p.sine, table + b * 8, true);
        }
#pragma unroll
        for (int h = 0; h < 4; h++) {
            float x[16];
            float squares = 0.0f;
#pragma unroll
            for (int b = 0; b < 8; b++) {
                i32 n = at.column + (h * 8 + b) * 8 + pair;
                Two bias = two(p.bias, n, n < p.columns);
                const int g = (h * 8 + b) * 4 + r * 2;
                u32 both = pack(p.outType, v[g] * scale + bias.x, v[g + 1] * scale + bias.y);
                x[2 * b] = p.outType == F16 ? f16_float((u16) both) : bits_float(both << 16);
                x[2 * b + 1] = p.outType == F16 ? f16_float((u16) (both >> 16)) : bits_float(both & 0xffff0000u);
                squares = fmaf(x[2 * b], x[2 * b], squares);
                squares = fmaf(x[2 * b + 1], x[2 * b + 1], squares);
            }
            squares += shuffle_xor(squares, 1);
            squares += shuffle_xor(squares, 2);
            float inverse = 1.0f / square_root(squares / 64.0f + p.eps);
#pragma unroll
            for (int b = 0; b < 16; b++) {
                x[b] = x[b] * inverse;
            }
            u32 w[8];
#pragma unroll
            for (int b = 0; b < 8; b++) {
                float low = x[2 * b];
                float high = x[2 * b + 1];
                if (b < HALF) {
                    low = x[2 * b] * c[b].x + -x[2 * (b + HALF)] * s[b].x;
                    high = x[2 * b + 1] * c[b].y + -x[2 * (b + HALF) + 1] * s[b].y;
                } else if (b < TURNED) {
                    low = x[2 * b] * c[b].x + x[2 * (b - HALF)] * s[b].x;
                    high = x[2 * b + 1] * c[b].y + x[2 * (b - HALF) + 1] * s[b].y;
                }
                w[b] = pack(p.outType, low, high);
            }
#pragma unroll
            for (int b = 0; b < 8; b += 4) {
                Words words = gather(w[b], w[b + 1], w[b + 2], w[b + 3], at.lane);
                i32 n = at.column + (h * 8 + b + (at.lane & 3)) * 8;
                if (live && n < p.columns) {
                    *(Words*) ((u16*) p.out + row * p.outStride + n) = words;
                }
            }
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
