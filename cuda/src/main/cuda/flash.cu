// Attention on tensor cores by m16n8k16 (SM80 and later): FP16 or BF16 operands, FP32 scores, softmax and accumulation. The second
// product is FP16 in either case: the values of BF16 attention come as FP16, see value_scale.
//
// A warp owns 32 rows and meets the keys in tiles of 64; a block is 2 or 4 such warps that share the tiles. Rows therefore see the
// same operations in the same order whichever block they are in: query tiles 64 and 128 give the same bits. A tile that a row may
// not see changes nothing in it (its maximum stays, its decay is 1, its probabilities are 0).
#include "attention.cuh"

namespace kinema {

constexpr int KEYS = 64;

__device__ __forceinline__ u32 shared_address(const void* p) {
    u64 address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
    return (u32) address;
}

/** 16 bytes to shared memory in the background; zeros when not inside. */
__device__ __forceinline__ void copy_async(u32 to, const void* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

__device__ __forceinline__ void copies_issued() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void copies_arrived() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

__device__ __forceinline__ void matrices(u32 r[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

__device__ __forceinline__ void matrices_transposed(u32 r[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

template <int TYPE>
__device__ __forceinline__ void multiply(float c[4], const u32 a[4], u32 b0, u32 b1) {
    if (TYPE == F16) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

__device__ __forceinline__ float power_of_two(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/** What one thread fetches: 16 bytes of every STEP-th row of a tile. Rows from limit on and channels from D on become zeros. */
template <int WIDTH, int THREADS>
struct Fetch {
    static constexpr int VECTORS = WIDTH / 8;
    static constexpr int STEP = THREADS / VECTORS;

    template <int COUNT>
    static __device__ __forceinline__ void rows(u32 to, const u16* from, i64 rowStride, i32 first, i32 limit, i32 D) {
        i32 own = threadIdx.x / VECTORS;
        i32 column = threadIdx.x % VECTORS * 8;
        u32 target = to + (own * (WIDTH + 8) + column) * 2;
        const u16* source = from + (first + own) * rowStride + column;
        i32 left = column < D ? limit - first - own : 0;
#pragma unroll 4
        for (int i = 0; i < COUNT / STEP; i++) {
            // Nothing is read when not inside, but the address must be one of the tensor's.
            copy_async(target, left > 0 ? source : from, left > 0);
            target += STEP * (WIDTH + 8) * 2;
            source += STEP * rowStride;
            left -= STEP;
        }
    }
};

template <int TYPE, int WIDTH, int TILE>
__device__ __forceinline__ void flash(const Attention& a, const u32* largestValues) {
    constexpr int PITCH = WIDTH + 8;
    constexpr int THREADS = TILE;
    extern __shared__ __align__(16) u16 tiles[];
    u32 queries = shared_address(tiles);
    u32 keys = queries + TILE * PITCH * 2;
    u32 values = keys + KEYS * PITCH * 2;
    i32 h = blockIdx.y;
    i32 g = a.group(h);
    i32 first = blockIdx.x * TILE;
    i32 lane = threadIdx.x & 31;
    i32 warpRow = (threadIdx.x >> 5) * 32;
    const u16* q = (const u16*) a.q + h * a.qHead;
    const u16* k = (const u16*) a.k + g * a.kHead;
    const u16* v = (const u16*) a.v + g * a.vHead;
    i32 last = first + TILE < a.M ? first + TILE - 1 : a.M - 1;
    i32 end = a.visible(last);
    float toPower = a.scale * 1.4426950408889634f;

    // Addresses of this lane's rows in the 8x8 matrices that it loads.
    u32 queryAddress = queries + ((warpRow + (lane & 15)) * PITCH + (lane >> 4) * 8) * 2;
    u32 keyAddress = keys + (((lane & 7) + ((lane >> 4) << 3)) * PITCH + ((lane >> 3) & 1) * 8) * 2;
    u32 valueAddress = values + ((lane & 15) * PITCH + (lane >> 4) * 8) * 2;

    float sum[2][WIDTH / 8][4];
    float largest[2][2];
    float total[2][2];
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int i = 0; i < WIDTH / 8; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                sum[m][i][j] = 0.0f;
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            largest[m][r] = Max::neutral();
            total[m][r] = 0.0f;
        }
    }
    i32 all = a.visible(first + warpRow);

    Fetch<WIDTH, THREADS>::template rows<TILE>(queries, q, a.qRow, first, a.M, a.D);
    Fetch<WIDTH, THREADS>::template rows<KEYS>(keys, k, a.kRow, 0, a.N, a.D);
    copies_issued();
    for (i32 n = 0; n < end; n += KEYS) {
        copies_arrived();
        __syncthreads();
        Fetch<WIDTH, THREADS>::template rows<KEYS>(values, v, a.vRow, n, a.N, a.D);
        copies_issued();

        float score[2][KEYS / 8][4];
#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    score[m][i][j] = 0.0f;
                }
            }
        }
#pragma unroll
        for (int d = 0; d < WIDTH; d += 16) {
            u32 x[2][4];
            matrices(x[0], queryAddress + d * 2);
            matrices(x[1], queryAddress + (16 * PITCH + d) * 2);
#pragma unroll
            for (int i = 0; i < KEYS / 16; i++) {
                u32 y[4];
                matrices(y, keyAddress + (i * 16 * PITCH + d) * 2);
#pragma unroll
                for (int m = 0; m < 2; m++) {
                    multiply<TYPE>(score[m][2 * i], x[m], y[0], y[1]);
                    multiply<TYPE>(score[m][2 * i + 1], x[m], y[2], y[3]);
                }
            }
        }

#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    score[m][i][j] *= toPower;
                }
            }
        }
        if (n + KEYS > all) {
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    i32 visible = a.visible(first + warpRow + m * 16 + r * 8 + (lane >> 2)) - n - (lane & 3) * 2;
#pragma unroll
                    for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                        for (int j = 0; j < 2; j++) {
                            if (i * 8 + j >= visible) {
                                score[m][i][2 * r + j] = Max::neutral();
                            }
                        }
                    }
                }
            }
        }
#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float next = largest[m][r];
#pragma unroll
                for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        next = max_float(next, score[m][i][2 * r + j]);
                    }
                }
                next = max_float(next, shuffle_xor(next, 1));
                next = max_float(next, shuffle_xor(next, 2));
                // A row that has seen no key yet keeps -infinity; 0 in its place keeps NaN out.
                float base = next == Max::neutral() ? 0.0f : next;
                float decay = power_of_two(largest[m][r] - base);
                base = raised<TYPE>(base);
                largest[m][r] = next;
                float part = 0.0f;
#pragma unroll
                for (int i = 0; i < KEYS / 8; i++) {
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        float p = power_of_two(score[m][i][2 * r + j] - base);
                        score[m][i][2 * r + j] = p;
                        part += p;
                    }
                }
                total[m][r] = fmaf(total[m][r], decay, part);
#pragma unroll
                for (int i = 0; i < WIDTH / 8; i++) {
                    sum[m][i][2 * r] *= decay;
                    sum[m][i][2 * r + 1] *= decay;
                }
            }
        }

        copies_arrived();
        __syncthreads();
        if (n + KEYS < end) {
            Fetch<WIDTH, THREADS>::template rows<KEYS>(keys, k, a.kRow, n + KEYS, a.N, a.D);
        }
        copies_issued();
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            u32 p[2][4];
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    p[m][2 * j] = pack_f16(score[m][2 * i + j][0], score[m][2 * i + j][1]);
                    p[m][2 * j + 1] = pack_f16(score[m][2 * i + j][2], score[m][2 * i + j][3]);
                }
            }
#pragma unroll
            for (int d = 0; d < WIDTH; d += 16) {
                u32 y[4];
                matrices_transposed(y, valueAddress + (i * 16 * PITCH + d) * 2);
#pragma unroll
                for (int m = 0; m < 2; m++) {
                    multiply<F16>(sum[m][d / 8], p[m], y[0], y[1]);
                    multiply<F16>(sum[m][d / 8 + 1], p[m], y[2], y[3]);
                }
            }
        }
    }
    copies_arrived();

    float unscaled = TYPE == BF16 ? value_unscale(largestValues[g]) : 1.0f;
    bool paired = (((i64) a.out | ((a.outRow | a.outHead) * type_bytes(a.outType))) & 7) == 0;
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float all = total[m][r];
            all += shuffle_xor(all, 1);
            all += shuffle_xor(all, 2);
            float share = all > 0.0f ? 1.0f / all : 0.0f;
            i32 row = first + warpRow + m * 16 + r * 8 + (lane >> 2);
            if (row >= a.M) {
                continue;
            }
            i64 at = row * a.outRow + h * a.outHead;
#pragma unroll
            for (int i = 0; i < WIDTH / 8; i++) {
                i32 d = i * 8 + (lane & 3) * 2;
                if (d >= a.D) {
                    continue;
                }
                float x = sum[m][i][2 * r] * share;
                float y = sum[m][i][2 * r + 1] * share;
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
}

/** The words' values, times the scale, as FP16; and the larger of `largest` and their finite magnitudes, as BF16 bits. */
__device__ __forceinline__ Words narrowed(const Words& values, float scale, u32& largest) {
    Words out;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        u32 w = values.w[j];
        u32 low = w & 0x7fff;
        u32 high = (w >> 16) & 0x7fff;
        largest = low > largest && low < 0x7f80 ? low : largest;
        largest = high > largest && high < 0x7f80 ? high : largest;
        out.w[j] = pack_f16(bits_float(w << 16) * scale, bits_float(w & 0xffff0000u) * scale);
    }
    return out;
}

}  // namespace

/**
 * V of BF16 attention as FP16, see value_scale: [N, kvHeads, D], contiguous. The first launch takes the guess for granted and finds every
 * head's largest magnitude on the way; the second (again) redoes the heads for which the guess was wrong, mostly none. A block has 128 rows
 * of a head; the heads of a row are neighbours, in memory and among blocks.
 */
KERNEL __launch_bounds__(256) kinema_flash_values(const u16* v, i64 vRow, i64 vHead, u16* out, u32* largest, i32 N, i32 kvHeads, i32 D, i32 again) {
    constexpr int AT_ONCE = 4;
    i32 head = blockIdx.x;
    float scale = value_scale(again ? largest[head] : 0);
    if (again && scale == value_scale(0)) {
        return;
    }
    i32 pieces = D / 8;
    i32 step = 256 / pieces;
    i32 own = threadIdx.x / pieces;
    i32 piece = threadIdx.x % pieces * 8;
    i32 first = blockIdx.y * 128;
    i32 end = own >= step ? 0 : first + 128 < N ? first + 128 : N;
    u32 most = 0;
    for (i32 n = first + own; n < end; n += AT_ONCE * step) {
        Words values[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            if (n + j * step < end) {
                values[j] = *(const Words*) (v + (n + j * step) * vRow + head * vHead + piece);
            }
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            if (n + j * step < end) {
                *(Words*) (out + ((i64) (n + j * step) * kvHeads + head) * D + piece) = narrowed(values[j], scale, most);
            }
        }
    }
    if (!again) {
        most = float_bits(reduce_block<LargestBits>(bits_float(most)));
        if (threadIdx.x == 0 && most > 0) {
            asm volatile("red.global.max.u32 [%0], %1;" ::"l"(largest + head), "r"(most) : "memory");
        }
    }
}

#define FLASH(name, type, width, tile) \
    KERNEL __launch_bounds__(tile, 256 / tile) kinema_flash_##name##_d##width##_q##tile(ATTENTION_PARAMETERS, const u32* largestValues) { \
        flash<type, width, tile>(Attention{ATTENTION_ARGUMENTS}, largestValues); \
    }

FLASH(f16, F16, 64, 64)
FLASH(f16, F16, 64, 128)
FLASH(f16, F16, 128, 64)
FLASH(f16, F16, 128, 128)
FLASH(bf16, BF16, 64, 64)
FLASH(bf16, BF16, 64, 128)
FLASH(bf16, BF16, 128, 64)
FLASH(bf16, BF16, 128, 128)
