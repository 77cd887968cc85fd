// Attention on the tensor cores of SM90 by wgmma: FP16 or BF16 operands, FP32 scores, softmax and accumulation. The second product is
// FP16 in either case: the values of BF16 attention come as FP16, see value_scale.
//
// A consumer is a warpgroup that owns 64 rows; a block has one to three of them and one more warpgroup, the producer, which brings
// tiles of 80 or 128 keys and values to shared memory through four stages each. Rows see the same operations in the same order however
// many consumers there are: query tiles 64, 128 and 192 give the same bits. A consumer multiplies the next tile's scores while it still
// accumulates the last tile's values, and consumers take turns at the tensor cores, so that one's softmax hides behind the
// others' products.
//
// Tiles lie as wgmma reads them: halves of 64 channels, rows of 128 bytes, the 16-byte pieces of row r at piece ^ (r % 8).
#include "attention.cuh"
#include "wgmma.cuh"

namespace kinema {

constexpr int STAGES = 4;
constexpr int PIECE = 64;

__device__ __forceinline__ float power_of_two(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

__device__ __forceinline__ bool any_lane(bool yes) {
    u32 r;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(yes ? 1u : 0u));
    return r != 0;
}

// ---- shared memory -------------------------------------------------------------------------------------------------

template <int WIDTH, int KEYS, int CONSUMERS>
struct Layout {
    static constexpr int HALVES = WIDTH / PIECE;
    static constexpr int QUERIES = CONSUMERS * 64;
    static constexpr u32 QUERY_HALF = QUERIES * 128;
    static constexpr u32 KEY_HALF = KEYS * 128;
    static constexpr u32 KEY_TILE = KEY_HALF * HALVES;
    static constexpr u32 FIRST_KEYS = QUERY_HALF * HALVES;
    static constexpr u32 FIRST_VALUES = FIRST_KEYS + STAGES * KEY_TILE;
    static constexpr u32 BARRIERS = FIRST_VALUES + STAGES * KEY_TILE;
};

/** Which barrier of a stage. */
enum { KEYS_FULL = 0, KEYS_EMPTY = STAGES, VALUES_FULL = 2 * STAGES, VALUES_EMPTY = 3 * STAGES };

/** ROWS rows by 128 threads, 16 bytes at a time; rows from limit on and channels from D on become zeros. */
template <int ROWS, int WIDTH>
__device__ __forceinline__ void fetch(u32 to, const u16* from, i64 rowStride, i32 first, i32 limit, i32 D) {
    constexpr int PER_ROW = WIDTH / 8;
    constexpr int STEP = 128 / PER_ROW;
    i32 thread = threadIdx.x & 127;
    i32 own = thread / PER_ROW;
    i32 piece = thread % PER_ROW;
    // STEP is a multiple of 8, so row % 8 is the same in every step.
    u32 target = to + (piece >> 3) * (ROWS * 128) + own * 128 + (((piece & 7) ^ (own & 7)) << 4);
    const u16* source = from + (first + own) * rowStride + piece * 8;
    i32 left = piece * 8 < D ? limit - first - own : 0;
#pragma unroll 4
    for (int i = 0; i < ROWS / STEP; i++) {
        const u16* readable = left > 0 ? source : from;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(readable), "r"(left > 0 ? 16 : 0) : "memory");
        target += STEP * 128;
        source += STEP * rowStride;
        left -= STEP;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/** Hands over what arrived: all groups but the last LEFT; then the tensor cores may read what was written. */
template <int LEFT>
__device__ __forceinline__ void hand_over(u32 barrier) {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier_arrive(barrier);
}

template <int WIDTH, int KEYS, int CONSUMERS>
__device__ __forceinline__ void produce(const Attention& a, u32 base, i32 tiles) {
    using L = Layout<WIDTH, KEYS, CONSUMERS>;
    i32 h = blockIdx.y;
    i32 g = a.group(h);
    const u16* k = (const u16*) a.k + g * a.kHead;
    const u16* v = (const u16*) a.v + g * a.vHead;
    u32 barriers = base + L::BARRIERS;
    fetch<L::QUERIES, WIDTH>(base, (const u16*) a.q + h * a.qHead, a.qRow, blockIdx.x * L::QUERIES, a.M, a.D);
    // Groups in the order in which consumers want them: keys 0, keys 1, values 0, keys 2, values 1, ...; each is handed over when the
    // next two are on their way (the queries go with the first keys).
    u32 last = 0;
    u32 before = 0;
    auto issued = [&](u32 barrier) {
        if (before != 0) {
            hand_over<2>(before);
        }
        before = last;
        last = barrier;
    };
    for (i32 i = 0; i <= tiles; i++) {
        u32 stage = i % STAGES;
        if (i < tiles) {
            if (i >= STAGES) {
                barrier_wait(barriers + (KEYS_EMPTY + stage) * 8, (i / STAGES - 1) & 1);
            }
            fetch<KEYS, WIDTH>(base + L::FIRST_KEYS + stage * L::KEY_TILE, k, a.kRow, i * KEYS, a.N, a.D);
            issued(barriers + (KEYS_FULL + stage) * 8);
        }
        i32 j = i - 1;
        if (j >= 0) {
            u32 other = j % STAGES;
            if (j >= STAGES) {
                barrier_wait(barriers + (VALUES_EMPTY + other) * 8, (j / STAGES - 1) & 1);
            }
            fetch<KEYS, WIDTH>(base + L::FIRST_VALUES + other * L::KEY_TILE, v, a.vRow, j * KEYS, a.N, a.D);
            issued(barriers + (VALUES_FULL + other) * 8);
        }
    }
    hand_over<1>(before);
    hand_over<0>(last);
}

// ---- consumers -----------------------------------------------------------------------------------------------------

template <int TYPE, int WIDTH, int KEYS, int CONSUMERS>
struct Consumer {
    using L = Layout<WIDTH, KEYS, CONSUMERS>;
    static constexpr bool TURNS = CONSUMERS > 1;
    static constexpr int LAST = CONSUMERS - 1;
    const Attention& a;
    const u32* largestValues;
    u32 base;
    i32 tiles;
    i32 group;
    i32 lane;
    i32 firstRow;
    float sum[WIDTH / 2];
    float score[KEYS / 2];
    u32 p[KEYS / 16][4];
    float largest[2];
    float total[2];
    float decay[2];
    float toPower;

    __device__ __forceinline__ u32 barrier(int kind, i32 tile) const { return base + L::BARRIERS + (kind + tile % STAGES) * 8; }

    __device__ __forceinline__ void await(int kind, i32 tile) const { barrier_wait(barrier(kind, tile), (tile / STAGES) & 1); }

    /** This warp has read the tile. */
    __device__ __forceinline__ void release(int kind, i32 tile) const {
        if (lane == 0) {
            barrier_arrive(barrier(kind, tile));
        }
    }

    __device__ __forceinline__ void issue_scores(i32 tile) {
        u64 q = descriptor(base + group * 64 * 128, 16);
        u64 k = descriptor(base + L::FIRST_KEYS + (tile % STAGES) * L::KEY_TILE, 16);
        products_begin();
#pragma unroll
        for (int d = 0; d < WIDTH; d += 16) {
            u32 qAt = (d / PIECE) * L::QUERY_HALF + (d % PIECE) * 2;
            u32 kAt = (d / PIECE) * L::KEY_HALF + (d % PIECE) * 2;
            product_shared<TYPE>(score, q + (qAt >> 4), k + (kAt >> 4), d > 0);
        }
        products_issued();
    }

    __device__ __forceinline__ void issue_values(i32 tile) {
        u64 v = descriptor(base + L::FIRST_VALUES + (tile % STAGES) * L::KEY_TILE, L::KEY_HALF);
        products_begin();
#pragma unroll
        for (int n = 0; n < KEYS; n += 16) {
            product_registers(sum, p[n / 16], v + (n * 128 >> 4));
        }
        products_issued();
    }

    /** Scores to probabilities (not yet packed), the running maximum and sum, and what sums so far decay by. */
    __device__ __forceinline__ void soften(i32 tile) {
        i32 n = tile * KEYS;
        if (n + KEYS > a.visible(firstRow - (lane >> 2))) {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                i32 visible = a.visible(firstRow + r * 8) - n - (lane & 3) * 2;
#pragma unroll
                for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        if (i * 8 + j >= visible) {
                            score[i * 4 + r * 2 + j] = Max::neutral();
                        }
                    }
                }
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float next = largest[r];
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++) {
                next = max_float(next, max_float(score[i * 4 + r * 2], score[i * 4 + r * 2 + 1]));
            }
            next = max_float(next, shuffle_xor(next, 1));
            next = max_float(next, shuffle_xor(next, 2));
            // A row that has seen no key yet keeps -infinity; 0 in its place keeps NaN out.
            float bias = raised<TYPE>(next == Max::neutral() ? 0.0f : next * toPower);
            // Exactly 1 where the maximum stays: a tile that a row may not see changes nothing.
            decay[r] = next == largest[r] ? 1.0f : power_of_two((largest[r] - next) * toPower);
            largest[r] = next;
            float part = 0.0f;
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    float x = power_of_two(fmaf(score[i * 4 + r * 2 + j], toPower, -bias));
                    score[i * 4 + r * 2 + j] = x;
                    part += x;
                }
            }
            total[r] = fmaf(total[r], decay[r], part);
        }
    }

    __device__ __forceinline__ void pack() {
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float low = score[n * 8 + j * 2];
                float high = score[n * 8 + j * 2 + 1];
                p[n][j] = pack_f16(low, high);
            }
        }
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < WIDTH / 2; i++) {
            sum[i] = 0.0f;
        }
        largest[0] = largest[1] = Max::neutral();
        total[0] = total[1] = 0.0f;
    }

    __device__ __forceinline__ void consume() {
        clear();
        if (TURNS && group == LAST && tiles > 1) {
            turn_pass(1);
        }
        await(KEYS_FULL, 0);
        issue_scores(0);
        products_done<0>();
        settle(score);
        release(KEYS_EMPTY, 0);
        soften(0);
        pack();
        for (i32 tile = 1; tile < tiles; tile++) {
            await(KEYS_FULL, tile);
            if (TURNS) {
                turn_wait(1 + group);
            }
            issue_scores(tile);
            await(VALUES_FULL, tile - 1);
            issue_values(tile - 1);
            if (TURNS && (group != LAST || tile + 1 < tiles)) {
                turn_pass(group == LAST ? 1 : group + 2);
            }
            products_done<1>();
            settle(score);
            release(KEYS_EMPTY, tile);
            // The assembler lets the softmax follow the wait below. Held in front of it (by a store to shared memory that needs its sums) it
            // gained nothing with three consumers on an H200, and cost 10% with two: the others' turns hide it.
            soften(tile);
            products_done<0>();
            settle(sum);
            release(VALUES_EMPTY, tile - 1);
            // After the first tiles maxima hardly ever grow.
            if (any_lane(decay[0] != 1.0f || decay[1] != 1.0f)) {
#pragma unroll
                for (int i = 0; i < WIDTH / 2; i++) {
                    sum[i] *= decay[(i >> 1) & 1];
                }
            }
            pack();
        }
        await(VALUES_FULL, tiles - 1);
        issue_values(tiles - 1);
        products_done<0>();
        settle(sum);
    }

    __device__ __forceinline__ void write() const {
        float unscaled = TYPE == BF16 ? value_unscale(largestValues[a.group(blockIdx.y)]) : 1.0f;
        bool paired = (((i64) a.out | ((a.outRow | a.outHead) * type_bytes(a.outType))) & 7) == 0;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float all = total[r];
            all += shuffle_xor(all, 1);
            all += shuffle_xor(all, 2);
            float share = all > 0.0f ? 1.0f / all : 0.0f;
            i32 row = firstRow + r * 8;
            i64 at = row * a.outRow + blockIdx.y * a.outHead;
#pragma unroll
            for (int i = 0; i < WIDTH / 8; i++) {
                i32 d = i * 8 + (lane & 3) * 2;
                if (row >= a.M || d >= a.D) {
                    continue;
                }
                float x = sum[i * 4 + r * 2] * share;
                float y = sum[i * 4 + r * 2 + 1] * share;
                if (TYPE == BF16) {
                    x *= unscaled;
                    y *= unscaled;
                }
                if (!paired) {
                    store(a.out, a.outType, at + d, x);
                    store(a.out, a.outType, at + d + 1, y);
                } else if (a.outType == F32) {
                    *(u64*) ((float*) a.out + at + d) = (u64) float_bits(x) | ((u64) float_bits(y) << 32);
                } else {
                    *(u32*) ((u16*) a.out + at + d) = a.outType == F16 ? pack_f16(x, y) : pack_bf16(x, y);
                }
            }
        }
    }
};

template <int TYPE, int WIDTH, int KEYS, int CONSUMERS>
__device__ __forceinline__ void flash(const Attention& a, const u32* largestValues) {
    using L = Layout<WIDTH, KEYS, CONSUMERS>;
    extern __shared__ __align__(16) unsigned char room[];
    // Swizzled tiles begin at multiples of 1024 bytes.
    u32 base = (shared_address(room) + 1023) & ~1023u;
    i32 first = blockIdx.x * L::QUERIES;
    i32 last = first + L::QUERIES < a.M ? first + L::QUERIES - 1 : a.M - 1;
    i32 tiles = (a.visible(last) + KEYS - 1) / KEYS;
    i32 group = (i32) (threadIdx.x >> 7) - 1;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(base + L::BARRIERS + (KEYS_FULL + s) * 8, 128);
            barrier_init(base + L::BARRIERS + (VALUES_FULL + s) * 8, 128);
            barrier_init(base + L::BARRIERS + (KEYS_EMPTY + s) * 8, CONSUMERS * 4);
            barrier_init(base + L::BARRIERS + (VALUES_EMPTY + s) * 8, CONSUMERS * 4);
        }
    }
    __syncthreads();
    if (group < 0) {
        if (CONSUMERS == 2) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        }
        if (CONSUMERS == 3) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
        }
        if (tiles > 0) {
            produce<WIDTH, KEYS, CONSUMERS>(a, base, tiles);
        }
    } else {
        if (CONSUMERS == 2) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        }
        if (CONSUMERS == 3) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
        }
        Consumer<TYPE, WIDTH, KEYS, CONSUMERS> consumer{a, largestValues, base, tiles, group, (i32) (threadIdx.x & 31)};
        consumer.firstRow = first + group * 64 + ((threadIdx.x >> 5) & 3) * 16 + (consumer.lane >> 2);
        consumer.toPower = a.scale * 1.4426950408889634f;
        if (tiles > 0) {
            consumer.consume();
        } else {
            consumer.clear();
        }
        consumer.write();
    }
}

}  // namespace

#define FLASH(name, type, width, keys, consumers, tile)                                                                                    \
    KERNEL __launch_bounds__(128 + 128 * consumers, 1)                                                                                     \
            kinema_flash_wgmma_##name##_d##width##_q##tile(ATTENTION_PARAMETERS, const u32* largestValues) {                               \
        flash<type, width, keys, consumers>(Attention{ATTENTION_ARGUMENTS}, largestValues);                                                \
    }

FLASH(f16, F16, 64, 128, 1, 64)
FLASH(f16, F16, 64, 128, 2, 128)
FLASH(f16, F16, 64, 128, 3, 192)
FLASH(f16, F16, 128, 80, 1, 64)
FLASH(f16, F16, 128, 80, 2, 128)
FLASH(f16, F16, 128, 80, 3, 192)
FLASH(bf16, BF16, 64, 128, 1, 64)
FLASH(bf16, BF16, 64, 128, 2, 128)
FLASH(bf16, BF16, 64, 128, 3, 192)
FLASH(bf16, BF16, 128, 80, 1, 64)
FLASH(bf16, BF16, 128, 80, 2, 128)
FLASH(bf16, BF16, 128, 80, 3, 192)
