// Convolutions in FP32 as implicit matrix products, and the resampling activation of the audio decoder.
#include "common.cuh"

namespace kinema {

struct Geometry {
    i32 batch, inputs, frames, height, width;
    i32 outputs, outFrames, outHeight, outWidth;
    i32 kt, kh, kw;
    i32 strideT, strideH, strideW;
    i32 dilationT, dilationH, dilationW;
    i32 padT, padTop, padLeft;
    i32 reflect;
};

/** Division by a constant of the launch: exact for n * d < 2^32, which holds for every kernel size here. */
struct Divider {
    u32 d;
    u32 factor;

    __device__ __forceinline__ explicit Divider(u32 d) : d(d), factor(d == 1 ? 0 : 0xffffffffu / d + 1) {}

    __device__ __forceinline__ u32 quotient(u32 n) const {
        u32 q;
        asm("mul.hi.u32 %0, %1, %2;" : "=r"(q) : "r"(n), "r"(factor));
        return d == 1 ? n : q;
    }
};

/** The pixel at i of an axis, -1 for a zero. */
__device__ __forceinline__ i32 source(i32 i, i32 size, bool reflect) {
    if (reflect) {
        i = i < 0 ? -i : i;
        i = i >= size ? 2 * (size - 1) - i : i;
    }
    return i >= 0 && i < size ? i : -1;
}

/** Values of the input that meet tap k at one output position. */
struct Window {
    const float* x;
    const Geometry& g;
    Divider taps;
    Divider plane;
    Divider line;
    i32 t, y, c;
    i64 channel;

    __device__ __forceinline__ Window(const float* x, const Geometry& g, i64 position)
            : x(x), g(g), taps(g.kt * g.kh * g.kw), plane(g.kh * g.kw), line(g.kw), channel((i64) g.frames * g.height * g.width) {
        u32 area = (u32) g.outHeight * g.outWidth;
        u32 frame = (u32) (position / area);
        u32 rest = (u32) (position - (i64) frame * area);
        u32 row = rest / (u32) g.outWidth;
        t = (i32) frame * g.strideT - g.padT;
        y = (i32) row * g.strideH - g.padTop;
        c = (i32) (rest - row * g.outWidth) * g.strideW - g.padLeft;
    }

    __device__ __forceinline__ float at(u32 k) const {
        u32 i = taps.quotient(k);
        u32 tap = k - i * taps.d;
        u32 a = plane.quotient(tap);
        tap -= a * plane.d;
        u32 b = line.quotient(tap);
        tap -= b * line.d;
        i32 frame = t + (i32) a * g.dilationT;
        i32 row = source(y + (i32) b * g.dilationH, g.height, g.reflect != 0);
        i32 column = source(c + (i32) tap * g.dilationW, g.width, g.reflect != 0);
        if (frame < 0 || frame >= g.frames || row < 0 || column < 0) {
            return 0.0f;
        }
        return x[i * channel + ((i64) frame * g.height + row) * g.width + column];
    }
};

constexpr int CHUNK = 16;

}  // namespace

/** 64 outputs by 128 positions per block; a thread owns 8 by 4. The next chunk of k is fetched while this one is multiplied. */
KERNEL __launch_bounds__(256) kinema_conv_wide(const float* x, const float* w, const float* bias, float* out, Geometry g) {
    __shared__ __align__(16) float weights[CHUNK][64 + 4];
    __shared__ __align__(16) float values[CHUNK][128];
    i64 positions = (i64) g.outFrames * g.outHeight * g.outWidth;
    i64 firstPosition = (i64) blockIdx.x * 128;
    i32 firstOutput = blockIdx.y * 64;
    u32 depth = (u32) g.inputs * g.kt * g.kh * g.kw;

    // Who fetches what: positions p, k = half + 2 j; weights of output o, k = quarter * 4 + j.
    i32 p = threadIdx.x & 127;
    i32 half = threadIdx.x >> 7;
    i32 o = threadIdx.x >> 2;
    i32 quarter = threadIdx.x & 3;
    bool inside = firstPosition + p < positions;
    Window window(x + (i64) blockIdx.z * g.inputs * g.frames * g.height * g.width, g, inside ? firstPosition + p : 0);
    const float* row = w + (i64) (firstOutput + o) * depth;
    bool rowInside = firstOutput + o < g.outputs;

    float nextValues[CHUNK / 2];
    float nextWeights[4];
    auto fetch = [&](u32 k0) ALWAYS {
#pragma unroll
        for (int j = 0; j < CHUNK / 2; j++) {
            u32 k = k0 + half + 2 * j;
            nextValues[j] = inside && k < depth ? window.at(k) : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            u32 k = k0 + quarter * 4 + j;
            nextWeights[j] = rowInside && k < depth ? row[k] : 0.0f;
        }
    };

    i32 tx = threadIdx.x & 31;
    i32 ty = threadIdx.x >> 5;
    float sum[8][4];
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            sum[i][j] = 0.0f;
        }
    }
    fetch(0);
    for (u32 k0 = 0; k0 < depth; k0 += CHUNK) {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < CHUNK / 2; j++) {
            values[half + 2 * j][p] = nextValues[j];
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            weights[quarter * 4 + j][o] = nextWeights[j];
        }
        __syncthreads();
        if (k0 + CHUNK < depth) {
            fetch(k0 + CHUNK);
        }
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            Words a0 = *(const Words*) &weights[k][ty * 8];
            Words a1 = *(const Words*) &weights[k][ty * 8 + 4];
            Words b = *(const Words*) &values[k][tx * 4];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float a = bits_float(i < 4 ? a0.w[i & 3] : a1.w[i & 3]);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sum[i][j] = fmaf(a, bits_float(b.w[j]), sum[i][j]);
                }
            }
        }
    }
    bool aligned = (positions & 3) == 0 && ((i64) out & 15) == 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        i32 output = firstOutput + ty * 8 + i;
        i64 position = firstPosition + tx * 4;
        if (output >= g.outputs || position >= positions) {
            continue;
        }
        float add = bias == nullptr ? 0.0f : bias[output];
        float* to = out + ((i64) blockIdx.z * g.outputs + output) * positions + position;
        if (aligned) {
            *(Words*) to = Words{float_bits(sum[i][0] + add), float_bits(sum[i][1] + add), float_bits(sum[i][2] + add), float_bits(sum[i][3] + add)};
            continue;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (position + j < positions) {
                to[j] = sum[i][j] + add;
            }
        }
    }
}

/** 16 outputs by 256 positions per block; a thread owns one position. */
KERNEL __launch_bounds__(256) kinema_conv_narrow(const float* x, const float* w, const float* bias, float* out, Geometry g) {
    constexpr int DEEP = 128;
    __shared__ __align__(16) float weights[DEEP][16];
    i64 positions = (i64) g.outFrames * g.outHeight * g.outWidth;
    i64 position = (i64) blockIdx.x * 256 + threadIdx.x;
    i32 firstOutput = blockIdx.y * 16;
    u32 depth = (u32) g.inputs * g.kt * g.kh * g.kw;
    bool inside = position < positions;
    Window window(x + (i64) blockIdx.z * g.inputs * g.frames * g.height * g.width, g, inside ? position : 0);
    float sum[16];
#pragma unroll
    for (int i = 0; i < 16; i++) {
        sum[i] = 0.0f;
    }
    for (u32 k0 = 0; k0 < depth; k0 += DEEP) {
        __syncthreads();
        for (int i = threadIdx.x; i < DEEP * 16; i += 256) {
            u32 k = k0 + (i & (DEEP - 1));
            i32 output = firstOutput + i / DEEP;
            weights[i & (DEEP - 1)][i / DEEP] = k < depth && output < g.outputs ? w[(i64) output * depth + k] : 0.0f;
        }
        __syncthreads();
        u32 end = depth - k0 < DEEP ? depth - k0 : DEEP;
        if (inside) {
#pragma unroll 4
            for (u32 k = 0; k < end; k++) {
                float v = window.at(k0 + k);
                const Words* a = (const Words*) weights[k];
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    Words four = a[q];
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        sum[4 * q + j] = fmaf(bits_float(four.w[j]), v, sum[4 * q + j]);
                    }
                }
            }
        }
    }
    if (!inside) {
        return;
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        i32 output = firstOutput + i;
        if (output < g.outputs) {
            out[((i64) blockIdx.z * g.outputs + output) * positions + position] = sum[i] + (bias == nullptr ? 0.0f : bias[output]);
        }
    }
}

KERNEL __launch_bounds__(256) kinema_im2col(const float* x, void* columns, i32 type, i64 stride, i64 first, i64 count, Geometry g) {
    i64 p = (i64) blockIdx.x * 256 + threadIdx.x;
    if (p >= count) {
        return;
    }
    u32 depth = (u32) g.inputs * g.kt * g.kh * g.kw;
    Window window(x, g, first + p);
    for (u32 k = blockIdx.y; k < depth; k += gridDim.y) {
        store(columns, type, k * stride + p, window.at(k));
    }
}

/**
 * Output l of phase f (l + padding = q * stride + f) meets taps f, f + stride, ...: an ordinary convolution of inputs q, q - 1, ...
 * 64 outputs by 64 values of q per block; a thread owns 4 by 4.
 */
KERNEL __launch_bounds__(256) kinema_conv_transpose1d(const float* x, const float* w, const float* bias, float* out, i32 batch, i32 inputs,
                                                      i32 length, i32 outputs, i32 outLength, i32 taps, i32 stride, i32 padding) {
    __shared__ __align__(16) float weights[CHUNK][64];
    __shared__ __align__(16) float values[CHUNK][64];
    i32 phase = blockIdx.z % stride;
    i32 sample = blockIdx.z / stride;
    i32 own = phase < taps ? (taps - phase + stride - 1) / stride : 0;
    Divider perInput(own == 0 ? 1 : own);
    u32 depth = (u32) inputs * own;
    // The first q whose output is not cut away.
    i32 firstQ = (padding - phase + stride - 1 < 0 ? 0 : (padding - phase + stride - 1) / stride) + blockIdx.x * 64;
    i32 firstOutput = blockIdx.y * 64;
    const float* signal = x + (i64) sample * inputs * length;

    i32 lane = threadIdx.x & 63;
    i32 quarter = threadIdx.x >> 6;
    i32 tx = threadIdx.x & 15;
    i32 ty = threadIdx.x >> 4;
    float sum[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            sum[i][j] = 0.0f;
        }
    }
    for (u32 k0 = 0; k0 < depth; k0 += CHUNK) {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < CHUNK; j += 4) {
            u32 k = k0 + quarter + j;
            u32 i = perInput.quotient(k);
            i32 turn = (i32) (k - i * own);
            i32 at = firstQ + lane - turn;
            bool there = k < depth;
            values[quarter + j][lane] = there && at >= 0 && at < length ? signal[(i64) i * length + at] : 0.0f;
            weights[quarter + j][lane] = there && firstOutput + lane < outputs
                    ? w[((i64) i * outputs + firstOutput + lane) * taps + phase + turn * stride] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            Words a = *(const Words*) &weights[k][ty * 4];
            Words b = *(const Words*) &values[k][tx * 4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sum[i][j] = fmaf(bits_float(a.w[i]), bits_float(b.w[j]), sum[i][j]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        i32 output = firstOutput + ty * 4 + i;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            i32 l = (firstQ + tx * 4 + j) * stride + phase - padding;
            if (output < outputs && l >= 0 && l < outLength) {
                out[((i64) sample * outputs + output) * outLength + l] = sum[i][j] + (bias == nullptr ? 0.0f : bias[output]);
            }
        }
    }
}

/** A block computes 256 samples of one channel: the fine signal it needs in shared memory, then the low pass. */
KERNEL __launch_bounds__(256) kinema_anti_aliased_snake(const float* x, const float* up, i32 upTaps, const float* down, i32 downTaps, i32 ratio,
                                                        const float* alpha, const float* invBeta, float* out, i32 length, i32 channels,
                                                        i32 channelRows) {
    extern __shared__ float fine[];
    i32 border = upTaps / ratio - 1;
    i32 cut = border * ratio + (upTaps - ratio) / 2;
    i32 left = downTaps / 2 - (downTaps % 2 == 0 ? 1 : 0);
    i32 firstSample = (i32) blockIdx.x * 256;
    i32 firstFine = firstSample * ratio - left;
    i32 lastFine = length * ratio - 1;
    i32 needed = 255 * ratio + downTaps;
    for (i32 channelRow = blockIdx.y; channelRow < channelRows; channelRow += gridDim.y) {
        const float* row = x + (i64) channelRow * length;
        float a = alpha[channelRow % channels];
        float b = invBeta[channelRow % channels];
        __syncthreads();
        for (i32 n = threadIdx.x; n < needed; n += 256) {
            i32 i = firstFine + n;
            i = i < 0 ? 0 : i > lastFine ? lastFine : i;
            // Samples s of the padded row with i + cut - upTaps < s * ratio <= i + cut.
            i32 last = (i + cut) / ratio;
            i32 start = i + cut - upTaps + 1;
            i32 first = start <= 0 ? 0 : (start + ratio - 1) / ratio;
            i32 end = length + 2 * border - 1;
            last = last > end ? end : last;
            float sum = 0.0f;
            for (i32 s = first; s <= last; s++) {
                i32 at = s - border;
                at = at < 0 ? 0 : at >= length ? length - 1 : at;
                sum = fmaf(row[at], up[i + cut - s * ratio], sum);
            }
            float v = (float) ratio * sum;
            float sine = sinf(a * v);
            fine[n] = v + b * (sine * sine);
        }
        __syncthreads();
        i32 sample = firstSample + (i32) threadIdx.x;
        if (sample < length) {
            float sum = 0.0f;
            for (i32 j = 0; j < downTaps; j++) {
                sum = fmaf(fine[threadIdx.x * ratio + j], down[j], sum);
            }
            out[(i64) channelRow * length + sample] = sum;
        }
    }
}
