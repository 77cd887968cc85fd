// What product_hopper.cu does with a product's values while they are in registers.
#pragma once

#include "wgmma.cuh"

namespace kinema {

constexpr i32 TILE_ROWS = 128;

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

}  // namespace
