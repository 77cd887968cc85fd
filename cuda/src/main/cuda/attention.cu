// Attention in FP32 without tensor cores: the plain form, and tiles for whole sequences. Probabilities are not rounded.
#include "attention.cuh"

/** One block per row and head: online softmax over chunks of 128 keys. */
KERNEL __launch_bounds__(128) kinema_attention_reference(ATTENTION_PARAMETERS, i32 type) {
    Attention a{ATTENTION_ARGUMENTS};
    __shared__ float query[256];
    __shared__ float weights[128];
    i32 m = blockIdx.x;
    i32 h = blockIdx.y;
    i32 tid = threadIdx.x;
    for (i32 d = tid; d < D; d += 128) {
        query[d] = load(q, type, m * qRow + h * qHead + d);
    }
    __syncthreads();
    i32 g = a.group(h);
    i32 visible = a.visible(m);
    float largest = Max::neutral();
    float total = 0.0f;
    float sum[2] = {0.0f, 0.0f};
    for (i32 first = 0; first < visible; first += 128) {
        float score = Max::neutral();
        if (first + tid < visible) {
            const void* key = advance(k, type, (first + tid) * kRow + g * kHead);
            float dot = 0.0f;
            for (i32 d = 0; d < D; d++) {
                dot = fmaf(query[d], load(key, type, d), dot);
            }
            score = dot * scale;
        }
        float next = max_float(largest, reduce_block<Max>(score));
        float weight = first + tid < visible ? expf(score - next) : 0.0f;
        float decay = expf(largest - next);
        largest = next;
        weights[tid] = weight;
        total = total * decay + reduce_block<Sum>(weight);
        __syncthreads();
        i32 count = visible - first < 128 ? visible - first : 128;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            i32 d = tid + part * 128;
            if (d < D) {
                float s = sum[part] * decay;
                for (i32 n = 0; n < count; n++) {
                    s = fmaf(weights[n], load(v, type, (first + n) * vRow + g * vHead + d), s);
                }
                sum[part] = s;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int part = 0; part < 2; part++) {
        i32 d = tid + part * 128;
        if (d < D) {
            store(out, outType, m * outRow + h * outHead + d, visible > 0 ? sum[part] / total : 0.0f);
        }
    }
}

namespace kinema {

/** Rows [first, first + COUNT) of one head to shared memory, widened; rows from limit on and channels from D on are zeros. */
template <int COUNT, int WIDTH>
__device__ __forceinline__ void stage(const void* from, i32 type, i64 rowStride, i32 first, i32 limit, i32 D, float* to) {
    constexpr int VECTORS = WIDTH / 8;
    bool aligned = aligned16(from, type, rowStride);
    for (i32 i = threadIdx.x; i < COUNT * VECTORS; i += 256) {
        i32 row = i / VECTORS;
        i32 column = i % VECTORS * 8;
        float x[8];
        load8(advance(from, type, (first + row) * rowStride), type, column, first + row < limit ? D : 0, aligned, x);
        store8(to + row * (WIDTH + 4), F32, column, WIDTH, true, x);
    }
}

/** 64 rows against tiles of 32 keys; a thread owns 2 rows by 4 keys of the scores and 2 rows by WIDTH / 8 channels of the result. */
template <int WIDTH>
__device__ __forceinline__ void attention_f32(const Attention& a, i32 type) {
    constexpr int PITCH = WIDTH + 4;
    constexpr int PARTS = WIDTH / 32;
    extern __shared__ __align__(16) float tiles[];
    float* queries = tiles;
    float* keys = tiles + 64 * PITCH;
    float* weights = keys + 32 * PITCH;
    i32 first = blockIdx.x * 64;
    i32 h = blockIdx.y;
    i32 g = a.group(h);
    i32 tx = threadIdx.x & 7;
    i32 ty = threadIdx.x >> 3;
    stage<64, WIDTH>(advance(a.q, type, h * a.qHead), type, a.qRow, first, a.M, a.D, queries);
    i32 last = first + 63 < a.M ? first + 63 : a.M - 1;
    i32 end = a.visible(last);

    float largest[2];
    float total[2];
    float sum[2][PARTS][4];
    i32 visible[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        largest[r] = Max::neutral();
        total[r] = 0.0f;
        visible[r] = a.visible(first + ty * 2 + r);
#pragma unroll
        for (int c = 0; c < PARTS; c++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                sum[r][c][j] = 0.0f;
            }
        }
    }
    for (i32 n = 0; n < end; n += 32) {
        __syncthreads();
        stage<32, WIDTH>(advance(a.k, type, g * a.kHead), type, a.kRow, n, a.N, a.D, keys);
        __syncthreads();
        float score[2][4];
#pragma unroll
        for (int r = 0; r < 2; r++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                score[r][j] = 0.0f;
            }
        }
#pragma unroll 4
        for (int d = 0; d < WIDTH; d += 4) {
            Words x[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                x[r] = *(const Words*) &queries[(ty * 2 + r) * PITCH + d];
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                Words y = *(const Words*) &keys[(tx + 8 * j) * PITCH + d];
#pragma unroll
                for (int r = 0; r < 2; r++) {
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        score[r][j] = fmaf(bits_float(x[r].w[i]), bits_float(y.w[i]), score[r][j]);
                    }
                }
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float next = largest[r];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                score[r][j] = n + tx + 8 * j < visible[r] ? score[r][j] * a.scale : Max::neutral();
                next = max_float(next, score[r][j]);
            }
#pragma unroll
            for (int mask = 4; mask > 0; mask >>= 1) {
                next = max_float(next, shuffle_xor(next, mask));
            }
            // A row that has seen no key yet keeps -infinity; 0 in its place keeps NaN out.
            float base = next == Max::neutral() ? 0.0f : next;
            float decay = expf(largest[r] - base);
            largest[r] = next;
            float part = 0.0f;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float p = expf(score[r][j] - base);
                part += p;
                weights[(ty * 2 + r) * 36 + tx + 8 * j] = p;
            }
#pragma unroll
            for (int mask = 4; mask > 0; mask >>= 1) {
                part += shuffle_xor(part, mask);
            }
            total[r] = total[r] * decay + part;
#pragma unroll
            for (int c = 0; c < PARTS; c++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sum[r][c][j] *= decay;
                }
            }
        }
        __syncthreads();
        stage<32, WIDTH>(advance(a.v, type, g * a.vHead), type, a.vRow, n, a.N, a.D, keys);
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < 32; j += 4) {
            Words p[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                p[r] = *(const Words*) &weights[(ty * 2 + r) * 36 + j];
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int c = 0; c < PARTS; c++) {
                    Words y = *(const Words*) &keys[(j + i) * PITCH + c * 32 + tx * 4];
#pragma unroll
                    for (int r = 0; r < 2; r++) {
#pragma unroll
                        for (int e = 0; e < 4; e++) {
                            sum[r][c][e] = fmaf(bits_float(p[r].w[i]), bits_float(y.w[e]), sum[r][c][e]);
                        }
                    }
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        i32 m = first + ty * 2 + r;
        if (m >= a.M) {
            continue;
        }
#pragma unroll
        for (int c = 0; c < PARTS; c++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                i32 d = c * 32 + tx * 4 + j;
                if (d < a.D) {
                    store(a.out, a.outType, m * a.outRow + h * a.outHead + d, total[r] > 0.0f ? sum[r][c][j] / total[r] : 0.0f);
                }
            }
        }
    }
}

}  // namespace

KERNEL __launch_bounds__(256) kinema_attention_f32_d64(ATTENTION_PARAMETERS, i32 type) { attention_f32<64>(Attention{ATTENTION_ARGUMENTS}, type); }

KERNEL __launch_bounds__(256) kinema_attention_f32_d128(ATTENTION_PARAMETERS, i32 type) { attention_f32<128>(Attention{ATTENTION_ARGUMENTS}, type); }
