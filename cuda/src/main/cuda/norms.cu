// Normalisation: one block per row (heads: one group of lanes per head), statistics in FP32, a row is read once.
#include "block_row.cuh"

namespace kinema {

__device__ __forceinline__ float inverse_root_mean_square(BlockRow& row, float eps) {
    float squares = 0.0f;
    row.each([&](i64, const float v[8]) ALWAYS {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            squares = fmaf(v[j], v[j], squares);
        }
    });
    float mean = reduce_block<Sum>(squares) / (float) row.width;
    return 1.0f / square_root(mean + eps);
}

/** v = v * inverse * weight[column..] */
__device__ __forceinline__ void normalise(float v[8], float inverse, bool weighted, const float w[8]) {
#pragma unroll
    for (int j = 0; j < 8; j++) {
        v[j] = v[j] * inverse;
        if (weighted) {
            v[j] = v[j] * w[j];
        }
    }
}

__device__ __forceinline__ void normalise(float v[8], float inverse, const void* weight, i32 type, i64 column, i64 width, bool aligned) {
    float w[8];
    if (weight != nullptr) {
        load8(weight, type, column, width, aligned, w);
    }
    normalise(v, inverse, weight != nullptr, w);
}

}  // namespace

KERNEL ROW_BOUNDS kinema_rms_norm(const void* x, Rows xRows, i32 xType, const void* weight, i32 weightType, float eps, void* out,
                                              Rows outRows, i32 outType, i64 rows, i64 width) {
    i64 r = blockIdx.x;
    BlockRow row{advance(x, xType, xRows.at(r)), xType, width, aligned16(x, xType, xRows)};
    row.read();
    float inverse = inverse_root_mean_square(row, eps);
    bool weightAligned = aligned16(weight, weightType, (i64) 0);
    bool outAligned = aligned16(out, outType, outRows);
    void* to = advance(out, outType, outRows.at(r));
    row.each([&](i64 column, const float kept[8]) ALWAYS {
        float v[8];
        copy8(kept, v);
        normalise(v, inverse, weight, weightType, column, width, weightAligned);
        store8(to, outType, column, width, outAligned, v);
    });
}

namespace kinema {

/** Shift and scale of one row. */
struct Modulation {
    const float* shift;
    const float* scale;
    const void* weight;
    i32 weightType;
    bool weightAligned;
    bool shiftAligned;
    bool scaleAligned;

    /** v = (v * inverse * weight) * (1 + scale) + shift */
    __device__ __forceinline__ void apply(float v[8], float inverse, i64 column, i64 width) const {
        KEEP_ORDER;
        float add[8];
        float factor[8];
        load8(scale, F32, column, width, scaleAligned, factor);
        load8(shift, F32, column, width, shiftAligned, add);
        normalise(v, inverse, weight, weightType, column, width, weightAligned);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = v[j] * (1.0f + factor[j]) + add[j];
        }
    }
};

}  // namespace

// Four blocks on SM90, where that goes without spills; one for clang's code where it keeps results.
#ifdef __clang__
#define MODULATE_BOUNDS ROW_BOUNDS
#define PREPARE_BOUNDS HELD_BOUNDS
#else
#define MODULATE_BOUNDS __launch_bounds__(256, __CUDA_ARCH__ >= 900 ? 4 : 3)
#define PREPARE_BOUNDS ROW_BOUNDS
#endif

#define MODULATION                                                                                                                  \
    Modulation {                                                                                                                    \
        shift + (i64) rowIndex[blockIdx.x] * shiftStride, scale + (i64) rowIndex[blockIdx.x] * scaleStride, weight, weightType,     \
            aligned16(weight, weightType, (i64) 0), aligned16(shift, F32, shiftStride), aligned16(scale, F32, scaleStride)          \
    }

KERNEL MODULATE_BOUNDS kinema_rms_norm_modulate(const float* x, i64 xStride, const void* weight, i32 weightType, float eps,
                                                       const float* shift, i64 shiftStride, const float* scale, i64 scaleStride,
                                                       const i32* rowIndex, void* out, i64 outStride, i32 outType, i64 rows, i64 width) {
    i64 r = blockIdx.x;
    BlockRow row{x + r * xStride, F32, width, aligned16(x, F32, xStride)};
    row.read();
    Modulation modulation = MODULATION;
    float inverse = inverse_root_mean_square(row, eps);
    bool outAligned = aligned16(out, outType, outStride);
    void* to = advance(out, outType, r * outStride);
    row.each([&](i64 column, float v[8]) ALWAYS {
        modulation.apply(v, inverse, column, width);
        store8(to, outType, column, width, outAligned, v);
    });
}

KERNEL PREPARE_BOUNDS kinema_rms_norm_modulate_prepare_f16(const float* x, i64 xStride, const void* weight, i32 weightType, float eps,
                                                                   const float* shift, i64 shiftStride, const float* scale,
                                                                   i64 scaleStride, const i32* rowIndex, u16* values, i64 valuesStride,
                                                                   float* rowScale, i64 rows, i64 width) {
    i64 r = blockIdx.x;
    BlockRow row{x + r * xStride, F32, width, aligned16(x, F32, xStride)};
    row.read();
    Modulation modulation = MODULATION;
    float inverse = inverse_root_mean_square(row, eps);
    // The largest result decides the scale of the row: kept vectors become results, the rest is computed twice.
    float largest = 0.0f;
    row.each([&](i64 column, float v[8]) ALWAYS {
        modulation.apply(v, inverse, column, width);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            largest = LargestBits::of(largest, column + j < width ? fabsf(v[j]) : 0.0f);
        }
    });
    float s = row_scale(reduce_block<LargestBits>(largest));
    float down = inverse_power(s);
    bool aligned = aligned16(values, F16, valuesStride);
    if (threadIdx.x == 0) {
        rowScale[r] = s;
    }
    int t = 0;
    row.each([&](i64 column, float v[8]) ALWAYS {
        if (t++ >= KEPT) {
            modulation.apply(v, inverse, column, width);
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = v[j] * down;
        }
        store8(values + r * valuesStride, F16, column, width, aligned, v);
    });
}

/** One warp a row of at most 2048 values, a multiple of eight: no row waits for another. With rowScale: an FP16 operand. */
KERNEL __launch_bounds__(256, 2) kinema_rms_norm_narrow(const float* x, i64 xStride, const void* weight, i32 weightType, float eps, void* out,
                                                        i64 outStride, i32 outType, float* rowScale, i64 rows, i64 width) {
    constexpr int VECTORS = 8;
    // Last rows first: of rows just written the last are still in the cache, and of what is written here the first, where its reader begins.
    i64 r = rows - 1 - ((i64) blockIdx.x * 8 + (threadIdx.x >> 5));
    i64 first = (threadIdx.x & 31) * 8;
    if (r < 0) {
        return;
    }
    float v[VECTORS][8];
#pragma unroll
    for (int t = 0; t < VECTORS; t++) {
        load8(x + r * xStride, F32, first + t * 256, width, true, v[t]);
    }
    float squares = 0.0f;
#pragma unroll
    for (int t = 0; t < VECTORS; t++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            squares = fmaf(v[t][j], v[t][j], squares);
        }
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        squares += shuffle_xor(squares, mask);
    }
    float inverse = 1.0f / square_root(squares / (float) width + eps);
    bool weightAligned = aligned16(weight, weightType, (i64) 0);
    float largest = 0.0f;
#pragma unroll
    for (int t = 0; t < VECTORS; t++) {
        if (first + t * 256 < width) {
            normalise(v[t], inverse, weight, weightType, first + t * 256, width, weightAligned);
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            largest = LargestBits::of(largest, fabsf(v[t][j]));
        }
    }
    float down = 1.0f;
    if (rowScale != nullptr) {
#pragma unroll
        for (int mask = 16; mask > 0; mask >>= 1) {
            largest = LargestBits::of(largest, shuffle_xor(largest, mask));
        }
        float s = row_scale(largest);
        down = inverse_power(s);
        if (first == 0) {
            rowScale[r] = s;
        }
    }
    void* to = advance(out, outType, r * outStride);
#pragma unroll
    for (int t = 0; t < VECTORS; t++) {
        if (first + t * 256 < width) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[t][j] = v[t][j] * down;
            }
            store8(to, outType, first + t * 256, width, true, v[t]);
        }
    }
}

KERNEL ROW_BOUNDS kinema_layer_norm(const void* x, Rows xRows, i32 xType, const void* weight, i32 weightType, const void* bias,
                                                i32 biasType, float eps, void* out, Rows outRows, i32 outType, i64 rows, i64 width) {
    i64 r = blockIdx.x;
    BlockRow row{advance(x, xType, xRows.at(r)), xType, width, aligned16(x, xType, xRows)};
    row.read();
    float sum = 0.0f;
    row.each([&](i64, const float v[8]) ALWAYS {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            sum += v[j];
        }
    });
    float mean = reduce_block<Sum>(sum) / (float) width;
    float squares = 0.0f;
    row.each([&](i64 column, const float v[8]) ALWAYS {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float d = column + j < width ? v[j] - mean : 0.0f;
            squares = fmaf(d, d, squares);
        }
    });
    float inverse = 1.0f / square_root(reduce_block<Sum>(squares) / (float) width + eps);
    bool weightAligned = aligned16(weight, weightType, (i64) 0);
    bool biasAligned = aligned16(bias, biasType, (i64) 0);
    bool outAligned = aligned16(out, outType, outRows);
    void* to = advance(out, outType, outRows.at(r));
    row.each([&](i64 column, const float kept[8]) ALWAYS {
        float v[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = kept[j] - mean;
        }
        normalise(v, inverse, weight, weightType, column, width, weightAligned);
        if (bias != nullptr) {
            float b[8];
            load8(bias, biasType, column, width, biasAligned, b);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[j] = v[j] + b[j];
            }
        }
        store8(to, outType, column, width, outAligned, v);
    });
}

// ---- group norm ----------------------------------------------------------------------------------------------------

namespace kinema {

struct Moments {
    double sum;
    double squares;
};

__device__ __forceinline__ Moments reduce_block(Moments m) {
    __shared__ Moments parts[8];
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        m.sum += shuffle_xor(m.sum, mask);
        m.squares += shuffle_xor(m.squares, mask);
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        parts[threadIdx.x >> 5] = m;
    }
    __syncthreads();
    Moments all = {0.0, 0.0};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        all.sum += parts[i].sum;
        all.squares += parts[i].squares;
    }
    return all;
}

/** Part `chunk` of the elements of one group in one frame: columns of a row [channels of the group] x [area]. */
struct GroupPart {
    i64 first;
    i64 step;

    __device__ __forceinline__ GroupPart(i32 chunks) {
        first = ((i64) blockIdx.x * blockDim.x + threadIdx.x) * 8;
        step = (i64) chunks * blockDim.x * 8;
    }
};

}  // namespace

KERNEL __launch_bounds__(256) kinema_group_norm_stats(const float* x, Moments* partial, i32 channelsPerGroup, i32 frames, i64 area, i32 chunks) {
    GroupPart part(chunks);
    bool aligned = aligned16(x, F32, area);
    Moments m = {0.0, 0.0};
    for (i32 c = 0; c < channelsPerGroup; c++) {
        const float* plane = x + (((i64) blockIdx.z * channelsPerGroup + c) * frames + blockIdx.y) * area;
        for (i64 i = part.first; i < area; i += part.step) {
            float v[8];
            load8(plane, F32, i, area, aligned, v);
            // Eight values in FP64: the products are exact and the variance survives a large mean.
#pragma unroll
            for (int j = 0; j < 8; j++) {
                double d = v[j];
                m.sum += d;
                m.squares += d * d;
            }
        }
    }
    m = reduce_block(m);
    if (threadIdx.x == 0) {
        partial[((i64) blockIdx.z * frames + blockIdx.y) * chunks + blockIdx.x] = m;
    }
}

KERNEL __launch_bounds__(256) kinema_group_norm_apply(const float* x, const Moments* partial, const float* weight, const float* bias, float eps,
                                                      i32 withSilu, void* out, i32 outType, i32 channelsPerGroup, i32 frames, i64 area,
                                                      i32 chunks) {
    const Moments* mine = partial + ((i64) blockIdx.z * frames + blockIdx.y) * chunks;
    Moments all = {0.0, 0.0};
    for (i32 i = 0; i < chunks; i++) {
        all.sum += mine[i].sum;
        all.squares += mine[i].squares;
    }
    double count = (double) channelsPerGroup * (double) area;
    double exactMean = all.sum / count;
    double variance = all.squares / count - exactMean * exactMean;
    float mean = (float) exactMean;
    float inverse = 1.0f / square_root((float) (variance < 0.0 ? 0.0 : variance) + eps);

    GroupPart part(chunks);
    bool aligned = aligned16(x, F32, area);
    bool outAligned = aligned16(out, outType, area);
    for (i32 c = 0; c < channelsPerGroup; c++) {
        i64 channel = (i64) blockIdx.z * channelsPerGroup + c;
        i64 plane = (channel * frames + blockIdx.y) * area;
        float w = weight[channel];
        float b = bias[channel];
        for (i64 i = part.first; i < area; i += part.step) {
            float v[8];
            load8(x + plane, F32, i, area, aligned, v);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float y = (v[j] - mean) * inverse * w + b;
                v[j] = withSilu ? silu(y) : y;
            }
            store8(advance(out, outType, plane), outType, i, area, outAligned, v);
        }
    }
}

// ---- heads ---------------------------------------------------------------------------------------------------------

namespace kinema {

/** Neighbouring heads of one row that one thread works on: their loads are in flight together, and they share the row's angles. */
constexpr int HEADS = 4;

/** This lane's eight channels of one head. */
struct Head {
    bool live;
    Raw8 raw;
    float v[8];
};

/** The rotation of this lane's eight channels in one row. */
struct Turn {
    float c[8];
    float s[8];

    /** @param mine all channels of the head, in shared memory */
    __device__ __forceinline__ void apply(float v[8], const float* mine, int column, int width, int rotated) const {
        int half = rotated >> 1;
        if ((half & 7) == 0) {
            // All eight channels lie in one half, so do their partners.
            float partner[8];
            float sign = column < half ? -1.0f : 1.0f;
            load8(mine, F32, column < half ? column + half : column - half, width, true, partner);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[j] = v[j] * c[j] + sign * partner[j] * s[j];
            }
            return;
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int i = column + j;
            if (i < rotated) {
                float partner = i < half ? -mine[i + half] : mine[i - half];
                v[j] = v[j] * c[j] + partner * s[j];
            }
        }
    }
};

}  // namespace

KERNEL __launch_bounds__(256, 2) kinema_head_norm_rotary(const void* x, i64 xRow, i64 xHead, i32 xType, i32 normed, const void* weight,
                                                      i32 weightType, float eps, const void* cosine, i64 cosineRow, const void* sine,
                                                      i64 sineRow, i32 tableType, i32 rotated, void* out, i64 outRow, i64 outHead,
                                                      i32 outType, i64 rows, i32 heads, i32 width) {
    // Lanes of one head: a power of two, eight channels each; the rotation's partner channels come from shared memory.
    __shared__ __align__(16) float channels[HEADS][256 * 8];
    int shift = width <= 8 ? 0 : 32 - leading_zeros((u32) (width - 1) >> 3);
    int lane = threadIdx.x & ((1 << shift) - 1);
    int slot = threadIdx.x >> shift;
    int slots = 256 >> shift;
    int column = lane * 8;
    u32 perRow = ((u32) heads + HEADS - 1) / HEADS;
    u32 index = blockIdx.x * slots + slot;
    u32 row = index / perRow;
    u32 first = (index - row * perRow) * HEADS;
    bool aligned = aligned16(x, xType, xRow) && aligned16(x, xType, xHead);
    Head h[HEADS];
#pragma unroll
    for (int n = 0; n < HEADS; n++) {
        h[n].live = row < rows && first + n < (u32) heads;
        i64 at = h[n].live ? row * xRow + (first + n) * xHead : 0;
        h[n].raw = fetch8(advance(x, xType, at), xType, column, h[n].live ? width : 0, aligned);
    }
    Raw8 weights;
    if (normed && weight != nullptr) {
        weights = fetch8(weight, weightType, column, width, aligned16(weight, weightType, (i64) 0));
    }
    bool turned = cosine != nullptr && column < rotated && row < rows;
    Raw8 cosines;
    Raw8 sines;
    if (turned) {
        cosines = fetch8(advance(cosine, tableType, row * cosineRow), tableType, column, rotated, aligned16(cosine, tableType, cosineRow));
        sines = fetch8(advance(sine, tableType, row * sineRow), tableType, column, rotated, aligned16(sine, tableType, sineRow));
    }
#pragma unroll
    for (int n = 0; n < HEADS; n++) {
        unpack8(h[n].raw, xType, h[n].v);
    }
    if (normed) {
        float w[8];
        if (weight != nullptr) {
            unpack8(weights, weightType, w);
        }
#pragma unroll
        for (int n = 0; n < HEADS; n++) {
            float squares = 0.0f;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                squares = fmaf(h[n].v[j], h[n].v[j], squares);
            }
            for (int mask = 1 << shift >> 1; mask > 0; mask >>= 1) {
                squares += shuffle_xor(squares, mask);
            }
            float inverse = 1.0f / square_root(squares / (float) width + eps);
            normalise(h[n].v, inverse, weight != nullptr, w);
        }
    }
    if (cosine != nullptr) {
#pragma unroll
        for (int n = 0; n < HEADS; n++) {
            store8(channels[n] + (slot << shift) * 8, F32, column, 256 * 8, true, h[n].v);
        }
        sync_warp();
        if (turned) {
            Turn turn;
            unpack8(cosines, tableType, turn.c);
            unpack8(sines, tableType, turn.s);
#pragma unroll
            for (int n = 0; n < HEADS; n++) {
                turn.apply(h[n].v, channels[n] + (slot << shift) * 8, column, width, rotated);
            }
        }
    }
    bool outAligned = aligned16(out, outType, outRow) && aligned16(out, outType, outHead);
#pragma unroll
    for (int n = 0; n < HEADS; n++) {
        i64 at = h[n].live ? row * outRow + (first + n) * outHead : 0;
        store8(advance(out, outType, at), outType, column, h[n].live ? width : 0, outAligned, h[n].v);
    }
}
