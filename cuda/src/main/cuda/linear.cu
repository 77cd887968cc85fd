// What surrounds a matrix product: preparing and rotating rows, decoding 8-bit weights, finishing products.
#include "block_row.cuh"

namespace kinema {

/** Divides kept vectors (and the rest, read again through again()) by the row's scale and stores them as FP16. */
struct ScaledRow {
    u16* values;
    bool aligned;
    i64 width;
    float down;

    __device__ __forceinline__ ScaledRow(u16* values, i64 stride, float* rowScale, i64 width, float largest)
            : values(values + (i64) blockIdx.x * stride), aligned(aligned16(values, F16, stride)), width(width) {
        float s = row_scale(reduce_block<LargestBits>(largest));
        down = inverse_power(s);
        if (threadIdx.x == 0) {
            rowScale[blockIdx.x] = s;
        }
    }

    __device__ __forceinline__ void write(i64 column, float v[8]) const {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = v[j] * down;
        }
        store8(values, F16, column, width, aligned, v);
    }
};

__device__ __forceinline__ float largest_of(float largest, const float v[8]) {
#pragma unroll
    for (int j = 0; j < 8; j++) {
        largest = LargestBits::of(largest, fabsf(v[j]));
    }
    return largest;
}

}  // namespace

KERNEL __launch_bounds__(256) kinema_prepare_f16(const float* x, i64 xStride, u16* values, i64 valuesStride, float* rowScale, i64 rows,
                                                 i64 width) {
    BlockRow row{x + (i64) blockIdx.x * xStride, F32, width, aligned16(x, F32, xStride)};
    row.read();
    float largest = 0.0f;
    row.each([&](i64, const float v[8]) ALWAYS { largest = largest_of(largest, v); });
    ScaledRow scaled(values, valuesStride, rowScale, width, largest);
    row.each([&](i64 column, float v[8]) ALWAYS { scaled.write(column, v); });
}

KERNEL HELD_BOUNDS kinema_swiglu_prepare_f16(const void* gate, i64 gateStride, const void* up, i64 upStride, i32 type, u16* values,
                                                        i64 valuesStride, float* rowScale, i64 rows, i64 width) {
    constexpr int HELD = 7;
    bool gateAligned = aligned16(gate, type, gateStride);
    bool upAligned = aligned16(up, type, upStride);
    const void* gates = advance(gate, type, (i64) blockIdx.x * gateStride);
    const void* ups = advance(up, type, (i64) blockIdx.x * upStride);
    auto product = [&](i64 column, float v[8]) ALWAYS {
        float w[8];
        Raw8 first = fetch8(gates, type, column, width, gateAligned);
        Raw8 second = fetch8(ups, type, column, width, upAligned);
        unpack8(first, type, v);
        unpack8(second, type, w);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = silu(v[j]) * w[j];
        }
    };
    float held[HELD][8];
    float largest = 0.0f;
    i64 step = (i64) blockDim.x * 8;
    i64 first = (i64) threadIdx.x * 8;
#pragma unroll
    for (int t = 0; t < HELD; t++) {
        product(first + t * step, held[t]);
        largest = largest_of(largest, held[t]);
    }
#pragma unroll 1
    for (i64 column = first + HELD * step; column < width; column += step) {
        float v[8];
        product(column, v);
        largest = largest_of(largest, v);
    }
    ScaledRow scaled(values, valuesStride, rowScale, width, largest);
#pragma unroll
    for (int t = 0; t < HELD; t++) {
        if (first + t * step < width) {
            scaled.write(first + t * step, held[t]);
        }
    }
#pragma unroll 1
    for (i64 column = first + HELD * step; column < width; column += step) {
        float v[8];
        product(column, v);
        scaled.write(column, v);
    }
}

/** Scales of rows whose largest magnitudes are known, and which runs of 256 rows have one above 1. */
KERNEL __launch_bounds__(256) kinema_row_scales(const float* largest, float* rowScale, i32* scaled, i64 rows) {
    i64 row = (i64) blockIdx.x * blockDim.x + threadIdx.x;
    float s = row < rows ? row_scale(largest[row]) : 1.0f;
    if (row < rows) {
        rowScale[row] = s;
    }
    float most = reduce_block<Max>(s);
    if (threadIdx.x == 0) {
        scaled[blockIdx.x] = most > 1.0f ? 1 : 0;
    }
}

// ---- rotation ------------------------------------------------------------------------------------------------------

namespace kinema {

/** One factor H4 on four values: every result is their sum less twice the value across. */
__device__ __forceinline__ void hadamard4(float& a, float& b, float& c, float& d) {
    float sum = (a + b) + (c + d);
    float x = sum - 2.0f * d;
    float y = sum - 2.0f * c;
    float z = sum - 2.0f * b;
    d = sum - 2.0f * a;
    a = x;
    b = y;
    c = z;
}

/** The factor H4 whose digit is bits [bit, bit + 2) of the lane. */
__device__ __forceinline__ void hadamard_lanes(float v[16], int bit) {
#pragma unroll
    for (int j = 0; j < 16; j++) {
        float pair = v[j] + shuffle_xor(v[j], 1 << bit);
        float sum = pair + shuffle_xor(pair, 2 << bit);
        v[j] = sum - 2.0f * shuffle_xor(v[j], 3 << bit);
    }
}

}  // namespace

KERNEL __launch_bounds__(256) kinema_rotate(const void* x, i64 xStride, i32 xType, void* out, i64 outStride, i32 outType, i64 rows, i64 width,
                                            i32 group) {
    bool xAligned = aligned16(x, xType, xStride);
    bool outAligned = aligned16(out, outType, outStride);
    i64 perRow = (width + 15) / 16;
    i64 total = rows * perRow;
    i64 step = (i64) gridDim.x * blockDim.x;
    // Whole blocks stay in the loop: lanes past the end take part in the exchanges.
    for (i64 base = (i64) blockIdx.x * blockDim.x; base < total; base += step) {
        i64 index = base + threadIdx.x;
        bool live = index < total;
        i64 row = live ? index / perRow : 0;
        i64 column = (index - row * perRow) * 16;
        float v[16];
        i64 limit = live ? width : 0;
        const void* from = advance(x, xType, row * xStride);
        load8(from, xType, column, limit, xAligned, v);
        load8(from, xType, column + 8, limit, xAligned, v + 8);
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
            hadamard4(v[j], v[j + 1], v[j + 2], v[j + 3]);
        }
        float factor = 0.5f;
        if (group >= 16) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                hadamard4(v[j], v[j + 4], v[j + 8], v[j + 12]);
            }
            factor = 0.25f;
        }
        if (group >= 64) {
            hadamard_lanes(v, 0);
            factor = 0.125f;
        }
        if (group >= 256) {
            hadamard_lanes(v, 2);
            factor = 0.0625f;
        }
#pragma unroll
        for (int j = 0; j < 16; j++) {
            v[j] = v[j] * factor;
        }
        void* to = advance(out, outType, row * outStride);
        store8(to, outType, column, limit, outAligned, v);
        store8(to, outType, column + 8, limit, outAligned, v + 8);
    }
}

// ---- 8-bit weights -------------------------------------------------------------------------------------------------

namespace kinema {

/** Eight signed bytes as floats, 0 from index n on. */
__device__ __forceinline__ void load8_int8(const signed char* q, i64 i, i64 n, bool aligned, float v[8]) {
    if (aligned && i + 8 <= n) {
        u64 bytes = *(const u64*) (q + i);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = (float) (signed char) (bytes >> (8 * j));
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++) {
        v[j] = i + j < n ? (float) q[i + j] : 0.0f;
    }
}

template <bool COLUMNS>
__device__ __forceinline__ void decode(const signed char* q, i64 qStride, const float* scale, void* out, i64 outStride, i32 outType, i64 lines,
                                       i64 width) {
    i64 column = ((i64) blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (column >= width) {
        return;
    }
    bool qAligned = (((i64) q | qStride) & 7) == 0;
    bool outAligned = aligned16(out, outType, outStride);
    float factor[8];
    if (COLUMNS) {
        load8(scale, F32, column, width, aligned16(scale, F32, (i64) 0), factor);
    }
    for (i64 line = (i64) blockIdx.y * blockDim.y + threadIdx.y; line < lines; line += (i64) gridDim.y * blockDim.y) {
        float v[8];
        load8_int8(q + line * qStride, column, width, qAligned, v);
        float own = COLUMNS ? 0.0f : scale[line];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = v[j] * (COLUMNS ? factor[j] : own);
        }
        store8(advance(out, outType, line * outStride), outType, column, width, outAligned, v);
    }
}

}  // namespace

KERNEL kinema_decode_rows(const signed char* q, i64 qStride, const float* scale, void* out, i64 outStride, i32 outType, i64 lines, i64 width) {
    decode<false>(q, qStride, scale, out, outStride, outType, lines, width);
}

KERNEL kinema_decode_columns(const signed char* q, i64 qStride, const float* scale, void* out, i64 outStride, i32 outType, i64 lines, i64 width) {
    decode<true>(q, qStride, scale, out, outStride, outType, lines, width);
}

// ---- after the product ---------------------------------------------------------------------------------------------

KERNEL kinema_epilogue(const float* product, i64 productStride, const float* rowScale, const void* bias, i32 biasType, const float* delta,
                       i64 deltaStride, float factor, void* out, i64 outStride, i32 outType, i64 rows, i64 width) {
    i64 column = ((i64) blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (column >= width) {
        return;
    }
    bool productAligned = aligned16(product, F32, productStride);
    bool deltaAligned = aligned16(delta, F32, deltaStride);
    bool outAligned = aligned16(out, outType, outStride);
    float b[8];
    if (bias != nullptr) {
        load8(bias, biasType, column, width, aligned16(bias, biasType, (i64) 0), b);
    }
    for (i64 row = (i64) blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += (i64) gridDim.y * blockDim.y) {
        float v[8];
        load8(product + row * productStride, F32, column, width, productAligned, v);
        if (rowScale != nullptr) {
            float s = rowScale[row];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[j] = v[j] * s;
            }
        }
        if (bias != nullptr) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[j] = v[j] + b[j];
            }
        }
        if (delta != nullptr) {
            float d[8];
            load8(delta + row * deltaStride, F32, column, width, deltaAligned, d);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[j] = fmaf(factor, d[j], v[j]);
            }
        }
        store8(advance(out, outType, row * outStride), outType, column, width, outAligned, v);
    }
}
