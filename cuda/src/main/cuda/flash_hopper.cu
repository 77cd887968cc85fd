// Attention on the tensor cores of SM90 by wgmma: FP16 or BF16 operands, FP32 scores, softmax and accumulation. The second product is
// FP16 in either case: the values of BF16 attention come as FP16, see value_scale.
//
// A block stays on its multiprocessor and takes items, runs of query rows of one head, one after the other. A consumer is a warpgroup that owns 64
// rows of an item; a block has one to three of them and one more warpgroup, of which one thread is the producer: it has the copy engine bring
// queries and tiles of 80 or 128 keys and values to shared memory, keys and values through four stages each, and is ahead into the
// next item while consumers finish the last. A consumer multiplies the next tile's scores while it still accumulates the last tile's values, and
// consumers take turns at the tensor cores, so that one's softmax hides behind the others' products.
//
// Rows see the same operations in the same order however many consumers and blocks there are: query tiles 64, 128 and 192 give the same bits.
// At most 16 keys that are left over at the end (5 of 1797) would cost narrow heads a tile of 128; they are a tile of 16 and come first, where
// no other tile's values are accumulated beside their few scores.
//
// Tiles lie as wgmma reads them: halves of 64 channels, rows of 128 bytes, the 16-byte pieces of row r at piece ^ (r % 8).
#include "flash_items.cuh"

namespace kinema {

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

template <int TYPE, class L>
struct Consumer {
    static constexpr int WIDTH = L::WIDTH;
    static constexpr int KEYS = L::KEYS;
    static constexpr bool TURNS = L::QUERIES > 64;
    static constexpr int LAST = L::QUERIES / 64 - 1;
    const Attention& a;
    const u32* largestValues;
    u32 base;
    i32 group;
    i32 lane;
    float toPower;
    /** Which use of rooms for queries, and of stages for keys and values, comes next. */
    u32 use;
    u32 at;
    i32 number;
    /** See Item. */
    i32 end;
    i32 tail;
    i32 firstRow;
    float sum[WIDTH / 2];
    float score[KEYS / 2];
    u32 p[KEYS / 16][4];
    float largest[2];
    float total[2];
    float decay[2];

    // ---- what is shared with the producer and the other consumers ----

    __device__ __forceinline__ void await(int kind, u32 tile) const { barrier_wait(base + L::BARRIERS + (kind + tile % STAGES) * 8, (tile / STAGES) & 1); }

    /** This warp has read what the barrier guards. */
    __device__ __forceinline__ void release(int kind, u32 tile) const {
        if (lane == 0) {
            barrier_arrive(base + L::BARRIERS + (kind + tile % STAGES) * 8);
        }
    }

    __device__ __forceinline__ void await_queries() const { barrier_wait(base + L::BARRIERS + (QUERIES_FULL + use % L::ROOMS) * 8, (use / L::ROOMS) & 1); }

    __device__ __forceinline__ void release_queries() const {
        if (lane == 0) {
            barrier_arrive(base + L::BARRIERS + (QUERIES_EMPTY + use % L::ROOMS) * 8);
        }
    }

    /** The last consumer gives the first its first turn of an item, if any tile follows the one that it begins with. */
    __device__ __forceinline__ void begin_turns() const {
        if (TURNS && group == LAST && (tail < 0 ? KEYS : 0) < end) {
            turn_pass(1);
        }
    }

    /** The next consumer's turn; after the last one's it is the first's, for the tile after the one whose keys begin at n. */
    __device__ __forceinline__ void pass(i32 n) const {
        if (TURNS && (group != LAST || n + KEYS < end)) {
            turn_pass(group == LAST ? 1 : group + 2);
        }
    }

    // ---- one tile; COUNT is half its keys where scores are, else its keys ----

    template <int COUNT>
    __device__ __forceinline__ void issue_scores(float (&score)[COUNT], u32 tile) {
        u64 q = descriptor(base + use % L::ROOMS * L::QUERY_ROOM + group * 64 * 128, 16);
        u64 k = descriptor(base + L::FIRST_KEYS + tile % STAGES * L::KEY_TILE, 16);
        products_begin();
#pragma unroll
        for (int d = 0; d < WIDTH; d += 16) {
            u32 qAt = (d / PIECE) * L::QUERY_HALF + (d % PIECE) * 2;
            u32 kAt = (d / PIECE) * L::KEY_HALF + (d % PIECE) * 2;
            product_shared<TYPE>(score, q + (qAt >> 4), k + (kAt >> 4), d > 0);
        }
        products_issued();
    }

    template <int COUNT>
    __device__ __forceinline__ void issue_values(u32 tile) {
        u64 v = descriptor(base + L::FIRST_VALUES + tile % STAGES * L::KEY_TILE, L::KEY_HALF);
        products_begin();
#pragma unroll
        for (int n = 0; n < COUNT; n += 16) {
            product_registers(sum, p[n / 16], v + (n * 128 >> 4));
        }
        products_issued();
    }

    /** Scores to probabilities (not yet packed), the running maximum and sum, and what sums so far decay by. */
    template <int COUNT>
    __device__ __forceinline__ void soften(float (&score)[COUNT], i32 n) {
        if (n + COUNT * 2 > a.visible(firstRow - (lane >> 2))) {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                i32 visible = a.visible(firstRow + r * 8) - n - (lane & 3) * 2;
#pragma unroll
                for (int i = 0; i < COUNT / 4; i++) {
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
            for (int i = 0; i < COUNT / 4; i++) {
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
            for (int i = 0; i < COUNT / 4; i++) {
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

    template <int COUNT>
    __device__ __forceinline__ void pack(const float (&score)[COUNT]) {
#pragma unroll
        for (int n = 0; n < COUNT / 8; n++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float low = score[n * 8 + j * 2];
                float high = score[n * 8 + j * 2 + 1];
                p[n][j] = pack_f16(low, high);
            }
        }
    }

    // ---- one item ----

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < WIDTH / 2; i++) {
            sum[i] = 0.0f;
        }
        largest[0] = largest[1] = Max::neutral();
        total[0] = total[1] = 0.0f;
    }

    /** The scores of an item's first tile. */
    template <int COUNT>
    __device__ __forceinline__ void begin(float (&some)[COUNT], i32 n) {
        await_queries();
        await(KEYS_FULL, at);
        issue_scores(some, at);
        products_done<0>();
        settle(some);
        release(KEYS_EMPTY, at);
        soften(some, n);
        pack(some);
    }

    /** The scores of the tile whose keys begin at n, beside the values of the tile before, which has BEFORE of them. */
    template <int BEFORE>
    __device__ __forceinline__ void step(i32 n) {
        await(KEYS_FULL, at + 1);
        if (TURNS) {
            turn_wait(1 + group);
        }
        issue_scores(score, at + 1);
        await(VALUES_FULL, at);
        issue_values<BEFORE>(at);
        // A turn ends when its products are issued: passed on only when they are done, it took longer with three consumers.
        pass(n);
        products_done<1>();
        settle(score);
        release(KEYS_EMPTY, at + 1);
        // The assembler lets the softmax follow the wait below. Held in front of it (by a store to shared memory that needs its sums) it
        // cost 3% with three consumers on an H200, and 10% with two: the others' turns hide it.
        soften(score, n);
        products_done<0>();
        settle(sum);
        release(VALUES_EMPTY, at);
        // After the first tiles maxima hardly ever grow.
        if (any_lane(decay[0] != 1.0f || decay[1] != 1.0f)) {
#pragma unroll
            for (int i = 0; i < WIDTH / 2; i++) {
                sum[i] *= decay[(i >> 1) & 1];
            }
        }
        pack(score);
        at++;
    }

    /** The values of an item's last tile, which has BEFORE of them. */
    template <int BEFORE>
    __device__ __forceinline__ void finish() {
        release_queries();
        await(VALUES_FULL, at);
        issue_values<BEFORE>(at);
        products_done<0>();
        settle(sum);
        release(VALUES_EMPTY, at);
        at++;
    }

    __device__ __forceinline__ void consume() {
        begin_turns();
        i32 n = KEYS;
        if (L::NARROW && tail >= 0) {
            float some[FEW / 2];
            begin(some, tail);
            if (end == 0) {
                finish<FEW>();
                return;
            }
            step<FEW>(0);
        } else {
            begin(score, 0);
        }
        for (; n < end; n += KEYS) {
            step<KEYS>(n);
        }
        finish<KEYS>();
    }

    /** Lets an item pass of which this consumer has no row, turns too: among fewer consumers they would meet those of the next item. */
    __device__ __forceinline__ void skip() {
        begin_turns();
        await_queries();
        release_queries();
        for (i32 n = tail < 0 ? 0 : -KEYS; n < end; n += KEYS) {
            await(KEYS_FULL, at);
            release(KEYS_EMPTY, at);
            if (TURNS && n > (tail < 0 ? 0 : -KEYS)) {
                turn_wait(1 + group);
                pass(n);
            }
            await(VALUES_FULL, at);
            release(VALUES_EMPTY, at);
            at++;
        }
    }

    __device__ __forceinline__ void run() {
        use = at = 0;
        for (number = blockIdx.x; number < Item<L>::count(a); number += gridDim.x) {
            Item<L> item(a, number);
            end = item.end;
            tail = item.tail;
            firstRow = item.first + group * 64 + ((threadIdx.x >> 5) & 3) * 16 + (lane >> 2);
            if (group < item.live) {
                clear();
                if (!item.empty()) {
                    consume();
                }
                write();
            } else if (!item.empty()) {
                skip();
            }
            use += item.empty() ? 0 : 1;
        }
    }

    // ---- results ----

    __device__ __forceinline__ void write() const {
        // Divided again rather than kept in a register through all tiles.
        i32 head = number / ((a.M + L::QUERIES - 1) / L::QUERIES);
        if ((((i64) a.out | ((a.outRow | a.outHead) * type_bytes(a.outType))) & 7) != 0) {
            write(head, [&](i64 at, float x, float y) {
                store(a.out, a.outType, at, x);
                store(a.out, a.outType, at + 1, y);
            });
        } else if (a.outType == F32) {
            write(head, [&](i64 at, float x, float y) { *(u64*) ((float*) a.out + at) = (u64) float_bits(x) | ((u64) float_bits(y) << 32); });
        } else if (a.outType == F16) {
            write(head, [&](i64 at, float x, float y) { *(u32*) ((u16*) a.out + at) = pack_f16(x, y); });
        } else {
            write(head, [&](i64 at, float x, float y) { *(u32*) ((u16*) a.out + at) = pack_bf16(x, y); });
        }
    }

    template <class Store>
    __device__ __forceinline__ void write(i32 head, Store pair) const {
        float unscaled = TYPE == BF16 ? value_unscale(largestValues[a.group(head)]) : 1.0f;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float all = total[r];
            all += shuffle_xor(all, 1);
            all += shuffle_xor(all, 2);
            float share = all > 0.0f ? 1.0f / all : 0.0f;
            i32 row = firstRow + r * 8;
            i64 to = row * a.outRow + head * a.outHead + (lane & 3) * 2;
            i32 left = row < a.M ? a.D - (lane & 3) * 2 : 0;
#pragma unroll
            for (int i = 0; i < WIDTH / 8; i++) {
                float x = sum[i * 4 + r * 2] * share;
                float y = sum[i * 4 + r * 2 + 1] * share;
                if (TYPE == BF16) {
                    x *= unscaled;
                    y *= unscaled;
                }
                if (i * 8 < left) {
                    pair(to + i * 8, x, y);
                }
            }
        }
    }
};

template <int TYPE, int WIDTH, int KEYS, int CONSUMERS>
__device__ __forceinline__ void flash(const Attention& a, const u32* largestValues, const Maps& maps) {
    using L = Layout<WIDTH, KEYS, CONSUMERS>;
    extern __shared__ __align__(16) unsigned char room[];
    // Swizzled tiles begin at multiples of 1024 bytes.
    u32 base = (shared_address(room) + 1023) & ~1023u;
    i32 group = (i32) (threadIdx.x >> 7) - 1;
    if (threadIdx.x == 0) {
        // The producer fills; each warp of each consumer says that it has read.
        for (int s = 0; s < STAGES; s++) {
            barrier_init(base + L::BARRIERS + (KEYS_FULL + s) * 8, 1);
            barrier_init(base + L::BARRIERS + (VALUES_FULL + s) * 8, 1);
            barrier_init(base + L::BARRIERS + (KEYS_EMPTY + s) * 8, CONSUMERS * 4);
            barrier_init(base + L::BARRIERS + (VALUES_EMPTY + s) * 8, CONSUMERS * 4);
        }
        for (int s = 0; s < L::ROOMS; s++) {
            barrier_init(base + L::BARRIERS + (QUERIES_FULL + s) * 8, 1);
            barrier_init(base + L::BARRIERS + (QUERIES_EMPTY + s) * 8, CONSUMERS * 4);
        }
        barriers_made();
    }
    __syncthreads();
    if (group < 0) {
        if (CONSUMERS == 2) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        }
        if (CONSUMERS == 3) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
        }
        if (threadIdx.x == 0) {
            Producer<L>{a, maps, base}.run();
        }
    } else {
        if (CONSUMERS == 2) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        }
        if (CONSUMERS == 3) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
        }
        Consumer<TYPE, L> consumer{a, largestValues, base, group, (i32) (threadIdx.x & 31), a.scale * 1.4426950408889634f};
        consumer.run();
    }
}

}  // namespace

#define FLASH(name, type, width, keys, consumers, tile)                                                                                    \
    KERNEL __launch_bounds__(128 + 128 * consumers, 1)                                                                                     \
            kinema_flash_wgmma_##name##_d##width##_q##tile(ATTENTION_PARAMETERS, const u32* largestValues,                                 \
                                                           const __grid_constant__ TensorMap queryMap,                                     \
                                                           const __grid_constant__ TensorMap keyMap,                                       \
                                                           const __grid_constant__ TensorMap valueMap) {                                   \
        flash<type, width, keys, consumers>(Attention{ATTENTION_ARGUMENTS}, largestValues, Maps{queryMap, keyMap, valueMap});              \
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
