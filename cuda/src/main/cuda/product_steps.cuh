// What product_hopper.cu does with a product's values while they are in registers.
#pragma once

#include "product_outlet.cuh"

namespace kinema {

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

/** A value of the product before anything follows it. */
__device__ __forceinline__ Two linear(const float (&v)[128], int block, int r, const float (&scale)[2], Two bias) {
    return Two{v[block * 4 + r * 2] * scale[r] + bias.x, v[block * 4 + r * 2 + 1] * scale[r] + bias.y};
}

__device__ __forceinline__ Two times(Two gate, Two y) { return Two{gate.x * y.x, gate.y * y.y}; }

/** Values are stored as FP32; with a SUM they are multiplied by their columns' gates, and the cache adds them to what is there. */
template <class FORM, bool SUM>
__device__ __forceinline__ void store_wide(const Product& p, const float (&v)[128], Spot at) {
    i32 pair = at.column + (at.lane & 3) * 2;
    float scale[2] = {p.scale(at.row), p.scale(at.row + 8)};
#pragma unroll
    for (int i = 0; i < 32; i += 4) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            // Blocks that are laid down together.
            int low = i + j;
            int high = low + 2;
            i32 n = pair + low * 8;
            i32 m = pair + high * 8;
            Two lowBias = two(p.bias, n, n < p.columns);
            Two highBias = two(p.bias, m, m < p.columns);
            Two lowGate = two(SUM ? p.gate : nullptr, n, n < p.columns);
            Two highGate = two(SUM ? p.gate : nullptr, m, m < p.columns);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                Two a = linear(v, low, r, scale, lowBias);
                Two b = linear(v, high, r, scale, highBias);
                a = SUM ? times(lowGate, a) : a;
                b = SUM ? times(highGate, b) : b;
                if (j == 0 && r == 0) {
                    at.open<8>();
                }
                lay(at, i >> 2, j, r, a, b);
            }
            apart<FORM>();
        }
        at.close<SUM>(p, at.room + Spot::at(i >> 2), at.column + i * 8);
    }
}

/** Values are stored in the operands' type. */
template <class FORM, int TYPE>
__device__ __forceinline__ void store_narrow(const Product& p, const float (&v)[128], Spot at) {
    i32 pair = at.column + (at.lane & 3) * 2;
    float scale[2] = {p.scale(at.row), p.scale(at.row + 8)};
#pragma unroll
    for (int i = 0; i < 32; i += 4) {
        u32 w[2][4];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            i32 n = pair + (i + b) * 8;
            Two bias = two(p.bias, n, n < p.columns);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                Two y = linear(v, i + b, r, scale, bias);
                w[r][b] = pack(TYPE, y.x, y.y);
            }
        }
        apart<FORM>();
        leave<4>(p, at, i, 0, w[0]);
        leave<4>(p, at, i, 1, w[1]);
        apart<FORM>();
    }
}

/** FP16: also notes each row's largest magnitude where that is asked for, or divides by the scale that the first time found. */
template <class FORM, int TYPE>
__device__ __forceinline__ void swiglu(const Product& p, const float (&v)[128], Spot at, const float* scales) {
    i32 pair = (at.lane & 3) * 2;
    float scale[2] = {p.scale(at.row), p.scale(at.row + 8)};
    // The first time the largest magnitudes so far, the second time the factors.
    u32 known[2] = {0, 0};
    if (TYPE == F16 && scales != nullptr) {
        known[0] = float_bits(at.row < p.rows ? inverse_power(scales[at.row]) : 1.0f);
        known[1] = float_bits(at.row + 8 < p.rows ? inverse_power(scales[at.row + 8]) : 1.0f);
    }
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
        Two gateBias[4];
        Two upBias[4];
#pragma unroll
        for (int b = 0; b < 4 && FORM::CONSUMERS == 2; b++) {
            i32 n = at.column + (i + b) * 8 + pair;
            gateBias[b] = two(p.bias, p.gateRow + n, n < p.columns);
            upBias[b] = two(p.bias, p.upRow + n, n < p.columns);
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u32 w[4];
#pragma unroll
            for (int b = 0; b < 4; b++) {
                i32 n = at.column + (i + b) * 8 + pair;
                const int g = (i + b) * 4 + r * 2;
                if (FORM::CONSUMERS == 3) {
                    gateBias[b] = two(p.bias, p.gateRow + n, n < p.columns);
                    upBias[b] = two(p.bias, p.upRow + n, n < p.columns);
                }
                float x = silu(v[g] * scale[r] + gateBias[b].x) * (v[64 + g] * scale[r] + upBias[b].x);
                float y = silu(v[g + 1] * scale[r] + gateBias[b].y) * (v[64 + g + 1] * scale[r] + upBias[b].y);
                if (TYPE == F16 && scales == nullptr) {
                    u32 bits = float_bits(LargestBits::of(fabsf(x), fabsf(y)));
                    known[r] = n < p.columns && bits > known[r] ? bits : known[r];
                } else if (TYPE == F16) {
                    x = x * bits_float(known[r]);
                    y = y * bits_float(known[r]);
                }
                w[b] = pack(TYPE, x, y);
                apart<FORM>();
            }
            leave<2>(p, at, i, r, w);
        }
    }
    if (TYPE == F16 && p.largest != nullptr && scales == nullptr) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u32 other = shuffle_xor(known[r], 1);
            u32 all = other > known[r] ? other : known[r];
            other = shuffle_xor(all, 2);
            all = other > all ? other : all;
            i32 row = at.row + r * 8;
            if ((at.lane & 3) == 0 && row < p.rows) {
                asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p.largest + row), "r"(all) : "memory");
            }
        }
    }
}

template <int TYPE>
__device__ __forceinline__ void heads(const Product& p, const float (&v)[128], Spot at) {
    constexpr int TURNED = 6;
    constexpr int HALF = 3;
    i32 pair = (at.lane & 3) * 2;
    float scale[2];
    Two c[2][TURNED];
    Two s[2][TURNED];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        i32 row = at.row + r * 8;
        i64 table = (i64) (row < p.rows ? row / p.rowsPerToken : 0) * p.tableStride + pair;
        scale[r] = p.scale(row);
#pragma unroll
        for (int b = 0; b < TURNED; b++) {
            c[r][b] = two(p.cosine, table + b * 8, true);
            s[r][b] = two(p.sine, table + b * 8, true);
        }
    }
#pragma unroll
    for (int h = 0; h < 4; h++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float x[16];
            float squares = 0.0f;
#pragma unroll
            for (int b = 0; b < 8; b++) {
                i32 n = at.column + (h * 8 + b) * 8 + pair;
                Two bias = two(p.bias, n, n < p.columns);
                const int g = (h * 8 + b) * 4 + r * 2;
                u32 both = pack(TYPE, v[g] * scale[r] + bias.x, v[g + 1] * scale[r] + bias.y);
                x[2 * b] = TYPE == F16 ? f16_float((u16) both) : bits_float(both << 16);
                x[2 * b + 1] = TYPE == F16 ? f16_float((u16) (both >> 16)) : bits_float(both & 0xffff0000u);
                squares = fmaf(x[2 * b], x[2 * b], squares);
                squares = fmaf(x[2 * b + 1], x[2 * b + 1], squares);
                if (b == 3) {
                    // Else the biases of all eight are fetched at once, and four bytes find no register.
                    sync_warp();
                }
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
            for (int b = 0; b < HALF; b++) {
                const int d = b + HALF;
                w[b] = pack(TYPE, x[2 * b] * c[r][b].x + -x[2 * d] * s[r][b].x, x[2 * b + 1] * c[r][b].y + -x[2 * d + 1] * s[r][b].y);
                w[d] = pack(TYPE, x[2 * d] * c[r][d].x + x[2 * b] * s[r][d].x, x[2 * d + 1] * c[r][d].y + x[2 * b + 1] * s[r][d].y);
            }
#pragma unroll
            for (int b = TURNED; b < 8; b++) {
                w[b] = pack(TYPE, x[2 * b], x[2 * b + 1]);
            }
            leave<4>(p, at, h * 8, r, w);
            leave<4>(p, at, h * 8 + 4, r, w + 4);
        }
    }
}

}  // namespace
