// Attention on the tensor cores of SM70 by m8n8k4: FP16 operands, FP32 scores, softmax and accumulation.
//
// A warp owns 32 rows and meets the keys in tiles of 32; a block is 2 or 4 such warps that share the tiles, so query tiles 64 and 128
// give the same bits (see flash.cu). One instruction is four products of 8x8x4, one for each quad pair of lanes (t = lane % 4,
// high = lane / 16, pair = lane / 4 % 4). Pairs are laid out as two rows by two columns of 8x8 blocks, so that a warp multiplies
// 16x16x4: rowBlock = pair % 2, columnBlock = pair / 2. Accumulator i of a lane lies at row (t & 1) + (i & 2) + 4 high and column
// (i & 4) + (t & 2) + (i & 1) of its block; as an operand of the second product, a lane needs row t + 4 high. It gets the missing
// half of that row from lane ^ 2 and the keys of the other column block from lane ^ 8: six exchanges for 16x16 probabilities.
#include "attention.cuh"

namespace kinema {

constexpr int KEYS = 32;

/** c += a b for the keys' product: a row-major, b column-major. */
__device__ __forceinline__ void multiply_column(float c[8], u32 a0, u32 a1, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "
                 "{%0, %1, %2, %3, %4, %5, %6, %7};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
                 : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
}

/** c += a b for the values' product: both row-major. */
__device__ __forceinline__ void multiply_row(float c[8], u32 a0, u32 a1, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "
                 "{%0, %1, %2, %3, %4, %5, %6, %7};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
                 : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
}

__device__ __forceinline__ bool any_lane(bool yes) {
    u32 r;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(yes ? 1u : 0u));
    return r != 0;
}

__device__ __forceinline__ float power_of_two(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/** A tile on its way from global to shared memory through registers: COUNT rows of WIDTH, rows from limit on and channels from D on zero. */
template <int COUNT, int WIDTH, int PITCH, int THREADS>
struct Tile {
    static constexpr int VECTORS = WIDTH / 8;
    static constexpr int STEP = THREADS / VECTORS;
    static constexpr int OWN = COUNT / STEP;
    Words held[OWN];

    __device__ __forceinline__ void read(const u16* from, i64 rowStride, i32 first, i32 limit, i32 D) {
        i32 row = first + (i32) threadIdx.x / VECTORS;
        i32 column = threadIdx.x % VECTORS * 8;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            bool inside = row + i * STEP < limit && column < D;
            held[i] = inside ? *(const Words*) (from + (row + i * STEP) * rowStride + column) : Words{0, 0, 0, 0};
        }
    }

    __device__ __forceinline__ void write(u16* to) const {
        i32 row = threadIdx.x / VECTORS;
        i32 column = threadIdx.x % VECTORS * 8;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            *(Words*) (to + (row + i * STEP) * PITCH + column) = held[i];
        }
    }
};

/** The operand rows of 16 probabilities: registers 2 s and 2 s + 1 hold keys [4 s, 4 s + 4). */
__device__ __forceinline__ void operand_of(const float c[8], i32 lane, u32 a[8]) {
    bool second = (lane & 2) != 0;
    bool right = (lane & 8) != 0;
    u32 low[2] = {pack_f16(c[0], c[1]), pack_f16(c[2], c[3])};
    u32 high[2] = {pack_f16(c[4], c[5]), pack_f16(c[6], c[7])};
    u32 ownLow = second ? low[1] : low[0];
    u32 ownHigh = second ? high[1] : high[0];
    u32 otherLow = shuffle_xor(second ? low[0] : low[1], 2);
    u32 otherHigh = shuffle_xor(second ? high[0] : high[1], 2);
    u32 mine[4] = {second ? otherLow : ownLow, second ? ownLow : otherLow, second ? otherHigh : ownHigh, second ? ownHigh : otherHigh};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        u32 theirs = shuffle_xor(mine[i], 8);
        a[i] = right ? theirs : mine[i];
        a[4 + i] = right ? mine[i] : theirs;
    }
}

template <int WIDTH, int TILE>
__device__ __forceinline__ void flash(const Attention& a) {
    constexpr int THREADS = TILE;
    constexpr int PITCH = WIDTH + 8;
    constexpr int VALUE_PITCH = WIDTH + 16;
    // With half the threads a tile takes twice the registers of each: there it is not fetched ahead.
    constexpr bool AHEAD = TILE >= 128;
    extern __shared__ __align__(16) u16 tiles[];
    u16* queries = tiles;
    u16* keys = tiles + TILE * PITCH;
    u16* values = keys + KEYS * PITCH;
    i32 h = blockIdx.y;
    i32 g = a.group(h);
    i32 first = blockIdx.x * TILE;
    i32 lane = threadIdx.x & 31;
    i32 warpRow = (threadIdx.x >> 5) * 32;
    i32 t = lane & 3;
    i32 high = lane >> 4;
    i32 rowBlock = (lane >> 2) & 1;
    i32 columnBlock = (lane >> 3) & 1;
    const u16* k = (const u16*) a.k + g * a.kHead;
    const u16* v = (const u16*) a.v + g * a.vHead;
    i32 last = first + TILE < a.M ? first + TILE - 1 : a.M - 1;
    i32 end = a.visible(last);
    i32 all = a.visible(first + warpRow);
    float toPower = a.scale * 1.4426950408889634f;
    // The two rows of this lane's accumulators in each 16-row tile.
    i32 ownRow = first + warpRow + rowBlock * 8 + high * 4 + (t & 1);

    {
        Tile<TILE, WIDTH, PITCH, THREADS> tile;
        tile.read((const u16*) a.q + h * a.qHead, a.qRow, first, a.M, a.D);
        tile.write(queries);
    }
    const u16* queryRow = queries + (warpRow + rowBlock * 8 + high * 4 + t) * PITCH;
    const u16* keyRow = keys + (columnBlock * 8 + high * 4 + t) * PITCH;
    const u16* valueRow = values + t * VALUE_PITCH + columnBlock * 8 + high * 4;

    float sum[2][WIDTH / 16][8];
    float largest[2][2];
    float total[2][2];
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int i = 0; i < WIDTH / 16; i++) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                sum[m][i][j] = 0.0f;
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            largest[m][r] = Max::neutral();
            total[m][r] = 0.0f;
        }
    }

    Tile<KEYS, WIDTH, PITCH, THREADS> nextKeys;
    Tile<KEYS, WIDTH, VALUE_PITCH, THREADS> nextValues;
    if (AHEAD) {
        nextKeys.read(k, a.kRow, 0, a.N, a.D);
    }
    for (i32 n = 0; n < end; n += KEYS) {
        __syncthreads();
        if (!AHEAD) {
            nextKeys.read(k, a.kRow, n, a.N, a.D);
        }
        nextKeys.write(keys);
        if (AHEAD) {
            nextValues.read(v, a.vRow, n, a.N, a.D);
        }
        __syncthreads();

        float score[2][KEYS / 16][8];
#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    score[m][i][j] = 0.0f;
                }
            }
        }
#pragma unroll
        for (int d = 0; d < WIDTH; d += 8) {
            Words x[2];
            x[0] = *(const Words*) (queryRow + d);
            x[1] = *(const Words*) (queryRow + 16 * PITCH + d);
#pragma unroll
            for (int i = 0; i < KEYS / 16; i++) {
                Words y = *(const Words*) (keyRow + i * 16 * PITCH + d);
#pragma unroll
                for (int m = 0; m < 2; m++) {
                    multiply_column(score[m][i], x[m].w[0], x[m].w[1], y.w[0], y.w[1]);
                    multiply_column(score[m][i], x[m].w[2], x[m].w[3], y.w[2], y.w[3]);
                }
            }
        }
#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    score[m][i][j] *= toPower;
                }
            }
        }
        if (n + KEYS > all) {
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
                for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        i32 key = n + i * 16 + columnBlock * 8 + (j & 4) + (t & 2) + (j & 1);
                        if (key >= a.visible(ownRow + m * 16 + (j & 2))) {
                            score[m][i][j] = Max::neutral();
                        }
                    }
                }
            }
        }

        u32 p[2][KEYS / 16][8];
#pragma unroll
        for (int m = 0; m < 2; m++) {
            float base[2];
            float decay[2];
            bool grew = false;
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float next = largest[m][r];
#pragma unroll
                for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        if ((j & 2) == 2 * r) {
                            next = max_float(next, score[m][i][j]);
                        }
                    }
                }
                next = max_float(next, shuffle_xor(next, 2));
                next = max_float(next, shuffle_xor(next, 8));
                // A row that has seen no key yet keeps -infinity; 0 in its place keeps NaN out.
                base[r] = next == Max::neutral() ? 0.0f : next;
                decay[r] = power_of_two(largest[m][r] - base[r]);
                grew = grew || next != largest[m][r];
                largest[m][r] = next;
                float part = 0.0f;
#pragma unroll
                for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        if ((j & 2) == 2 * r) {
                            score[m][i][j] = power_of_two(score[m][i][j] - base[r]);
                            part += score[m][i][j];
                        }
                    }
                }
                total[m][r] = fmaf(total[m][r], decay[r], part);
            }
            // Where no maximum of the warp's rows grew, every decay is 1 (or meets sums of 0).
            if (any_lane(grew)) {
#pragma unroll
                for (int i = 0; i < WIDTH / 16; i++) {
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        sum[m][i][j] *= decay[(j >> 1) & 1];
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < KEYS / 16; i++) {
                operand_of(score[m][i], lane, p[m][i]);
            }
        }

        if (!AHEAD) {
            nextValues.read(v, a.vRow, n, a.N, a.D);
        }
        nextValues.write(values);
        if (AHEAD && n + KEYS < end) {
            nextKeys.read(k, a.kRow, n + KEYS, a.N, a.D);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
            for (int s = 0; s < 4; s++) {
#pragma unroll
                for (int d = 0; d < WIDTH / 16; d++) {
                    u64 y = *(const u64*) (valueRow + (i * 16 + s * 4) * VALUE_PITCH + d * 16);
#pragma unroll
                    for (int m = 0; m < 2; m++) {
                        multiply_row(sum[m][d], p[m][i][2 * s], p[m][i][2 * s + 1], (u32) y, (u32) (y >> 32));
                    }
                }
            }
        }
    }

#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float all = total[m][r];
            all += shuffle_xor(all, 2);
            all += shuffle_xor(all, 8);
            float share = all > 0.0f ? 1.0f / all : 0.0f;
            i32 row = ownRow + m * 16 + 2 * r;
            if (row >= a.M) {
                continue;
            }
            i64 at = row * a.outRow + h * a.outHead;
#pragma unroll
            for (int i = 0; i < WIDTH / 16; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    i32 d = i * 16 + columnBlock * 8 + (j & 4) + (t & 2) + (j & 1);
                    if ((j & 2) == 2 * r && d < a.D) {
                        store(a.out, a.outType, at + d, sum[m][i][j] * share);
                    }
                }
            }
        }
    }
}

}  // namespace

#define FLASH(width, tile) \
    KERNEL __launch_bounds__(tile, 256 / tile) kinema_flash_f16_d##width##_q##tile(ATTENTION_PARAMETERS) { flash<width, tile>(Attention{ATTENTION_ARGUMENTS}); }

FLASH(64, 64)
FLASH(64, 128)
FLASH(128, 64)
FLASH(128, 128)
