// Element-wise operations: every thread moves vectors of eight along rows.
#include "common.cuh"

namespace kinema {

/** The vectors of one thread: a column, and rows row, row + step, ... */
struct Lane {
    i64 column;
    i64 row;
    i64 step;

    __device__ __forceinline__ Lane() {
        column = ((i64) blockIdx.x * blockDim.x + threadIdx.x) * 8;
        row = (i64) blockIdx.y * blockDim.y + threadIdx.y;
        step = (i64) gridDim.y * blockDim.y;
    }
};

enum UnaryOp { SILU, GELU_TANH, GELU_ERF, SCALE, CLAMP, CONVERT, ADD_CONSTANT };

__device__ __forceinline__ float clamped(float x, float low, float high) {
    float y = x < low ? low : x;
    return y > high ? high : y;
}

template <int OP>
__device__ __forceinline__ float unary(float x, float a, float b) {
    switch (OP) {
        case SILU: return silu(x);
        case GELU_TANH: return gelu_tanh(x);
        case GELU_ERF: return gelu_erf(x);
        case SCALE: return x * a;
        case CLAMP: return clamped(x, a, b);
        case ADD_CONSTANT: return x + a;
        default: return x;
    }
}

template <int OP>
__device__ __forceinline__ void unary8(float v[8], float a, float b) {
#pragma unroll
    for (int j = 0; j < 8; j++) {
        v[j] = unary<OP>(v[j], a, b);
    }
}

}  // namespace

KERNEL kinema_unary(i32 op, const void* x, Rows xRows, i32 xType, void* out, Rows outRows, i32 outType, i64 rows, i64 width, float a,
                    float b) {
    Lane lane;
    if (lane.column >= width) {
        return;
    }
    bool xAligned = aligned16(x, xType, xRows);
    bool outAligned = aligned16(out, outType, outRows);
    for (i64 row = lane.row; row < rows; row += lane.step) {
        float v[8];
        load8(advance(x, xType, xRows.at(row)), xType, lane.column, width, xAligned, v);
        switch (op) {
            case SILU: unary8<SILU>(v, a, b); break;
            case GELU_TANH: unary8<GELU_TANH>(v, a, b); break;
            case GELU_ERF: unary8<GELU_ERF>(v, a, b); break;
            case SCALE: unary8<SCALE>(v, a, b); break;
            case CLAMP: unary8<CLAMP>(v, a, b); break;
            case ADD_CONSTANT: unary8<ADD_CONSTANT>(v, a, b); break;
            default: break;
        }
        store8(advance(out, outType, outRows.at(row)), outType, lane.column, width, outAligned, v);
    }
}

KERNEL kinema_binary(i32 op, const void* a, Rows aRows, i32 aType, const void* b, Rows bRows, i32 bType, void* out, Rows outRows,
                     i32 outType, i64 rows, i64 width) {
    Lane lane;
    if (lane.column >= width) {
        return;
    }
    bool aAligned = aligned16(a, aType, aRows);
    bool bAligned = aligned16(b, bType, bRows);
    bool outAligned = aligned16(out, outType, outRows);
    for (i64 row = lane.row; row < rows; row += lane.step) {
        float v[8];
        float w[8];
        Raw8 first = fetch8(advance(a, aType, aRows.at(row)), aType, lane.column, width, aAligned);
        Raw8 second = fetch8(advance(b, bType, bRows.at(row)), bType, lane.column, width, bAligned);
        unpack8(first, aType, v);
        unpack8(second, bType, w);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = op == 0 ? v[j] + w[j] : (op == 1 ? silu(v[j]) : gelu_tanh(v[j])) * w[j];
        }
        store8(advance(out, outType, outRows.at(row)), outType, lane.column, width, outAligned, v);
    }
}

KERNEL kinema_add_scaled(const void* x, Rows xRows, float factor, void* out, Rows outRows, i64 rows, i64 width) {
    Lane lane;
    if (lane.column >= width) {
        return;
    }
    bool xAligned = aligned16(x, F32, xRows);
    bool outAligned = aligned16(out, F32, outRows);
    for (i64 row = lane.row; row < rows; row += lane.step) {
        float v[8];
        float w[8];
        void* to = advance(out, F32, outRows.at(row));
        load8(advance(x, F32, xRows.at(row)), F32, lane.column, width, xAligned, v);
        load8(to, F32, lane.column, width, outAligned, w);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            w[j] = fmaf(factor, v[j], w[j]);
        }
        store8(to, F32, lane.column, width, outAligned, w);
    }
}

KERNEL kinema_gated_residual_add(void* residual, Rows residualRows, const void* x, Rows xRows, i32 xType, const float* table,
                                 i64 tableStride, const i32* rowIndex, i64 rows, i64 width) {
    Lane lane;
    if (lane.column >= width) {
        return;
    }
    bool residualAligned = aligned16(residual, F32, residualRows);
    bool xAligned = aligned16(x, xType, xRows);
    bool tableAligned = aligned16(table, F32, tableStride);
    for (i64 row = lane.row; row < rows; row += lane.step) {
        float sum[8];
        float v[8];
        void* to = advance(residual, F32, residualRows.at(row));
        Raw8 old = fetch8(to, F32, lane.column, width, residualAligned);
        Raw8 added = fetch8(advance(x, xType, xRows.at(row)), xType, lane.column, width, xAligned);
        float gate[8];
        if (table != nullptr) {
            i64 r = rowIndex == nullptr ? 0 : rowIndex[row];
            load8(table + r * tableStride, F32, lane.column, width, tableAligned, gate);
        }
        unpack8(old, F32, sum);
        unpack8(added, xType, v);
        if (table != nullptr) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
                v[j] = gate[j] * v[j];
            }
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            sum[j] = sum[j] + v[j];
        }
        store8(to, F32, lane.column, width, residualAligned, sum);
    }
}

KERNEL kinema_channel_affine(const void* x, Rows xRows, i32 xType, const void* scale, i32 scaleType, const void* shift, i32 shiftType,
                             void* out, Rows outRows, i32 outType, i64 rows, i64 width, i64 rowsPerChannel) {
    Lane lane;
    if (lane.column >= width) {
        return;
    }
    bool xAligned = aligned16(x, xType, xRows);
    bool outAligned = aligned16(out, outType, outRows);
    for (i64 row = lane.row; row < rows; row += lane.step) {
        i64 channel = rowsPerChannel == 1 ? row : (i64) ((u32) row / (u32) rowsPerChannel);
        float factor = load(scale, scaleType, channel);
        float term = load(shift, shiftType, channel);
        float v[8];
        load8(advance(x, xType, xRows.at(row)), xType, lane.column, width, xAligned, v);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            v[j] = v[j] * factor + term;
        }
        store8(advance(out, outType, outRows.at(row)), outType, lane.column, width, outAligned, v);
    }
}

KERNEL kinema_snake(const void* x, Rows xRows, const float* alpha, const float* invBeta, void* out, Rows outRows, i64 rows, i64 width,
                    i64 channels) {
    Lane lane;
    if (lane.column >= width) {
        return;
    }
    bool xAligned = aligned16(x, F32, xRows);
    bool outAligned = aligned16(out, F32, outRows);
    for (i64 row = lane.row; row < rows; row += lane.step) {
        u32 channel = (u32) row % (u32) channels;
        float a = alpha[channel];
        float b = invBeta[channel];
        float v[8];
        load8(advance(x, F32, xRows.at(row)), F32, lane.column, width, xAligned, v);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float sine = sinf(a * v[j]);
            v[j] = v[j] + b * (sine * sine);
        }
        store8(advance(out, F32, outRows.at(row)), F32, lane.column, width, outAligned, v);
    }
}

namespace kinema {

/** One factor and one offset of each channel. */
struct Channels {
    float factor[4];
    float offset[4];
};

}  // namespace

/** Levels of pictures [channels][frames][plane], interleaved; a thread has one pixel of frame blockIdx.y. */
KERNEL __launch_bounds__(256) kinema_levels(const float* x, i64 channelStride, i64 frameStride, u8* out, u32* notFinite, i64 plane, i32 channels,
                                            Channels c) {
    constexpr float ROUNDER = 12582912.0f;
    i64 pixel = (i64) blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= plane) {
        return;
    }
    u32 odd = 0;
    const float* from = x + (i64) blockIdx.y * frameStride + pixel;
    u8* to = out + ((i64) blockIdx.y * plane + pixel) * channels;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < channels) {
            float v = from[i * channelStride];
            odd += (float_bits(v) & 0x7fffffff) >= 0x7f800000 ? 1 : 0;
            // A comparison with NaN is false: NaN becomes 0.
            float unit = v * c.factor[i] + c.offset[i];
            unit = unit > 0.0f ? unit : 0.0f;
            unit = unit < 1.0f ? unit : 1.0f;
            to[i] = (u8) (i32) ((unit * 255.0f + ROUNDER) - ROUNDER);
        }
    }
    if (odd > 0) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(notFinite + blockIdx.y), "r"(odd) : "memory");
    }
}
