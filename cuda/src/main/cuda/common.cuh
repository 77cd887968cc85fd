// What every kernel file shares: compiler differences, type codes, addressing, vectors of eight, reductions.
// No CUDA header is included: nvcc brings its own, and clang needs none with the few lines below.
#pragma once

#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define ALWAYS __attribute__((always_inline))
struct uint3;
struct dim3;
#include <__clang_cuda_builtin_vars.h>

extern "C" {
__device__ float __nv_expf(float);
__device__ float __nv_logf(float);
__device__ float __nv_sinf(float);
__device__ float __nv_cosf(float);
__device__ float __nv_erfcf(float);
__device__ float __nv_fmaf(float, float, float);
__device__ float __nv_fast_fdividef(float, float);
}
__device__ __forceinline__ float expf(float x) { return __nv_expf(x); }
__device__ __forceinline__ float logf(float x) { return __nv_logf(x); }
__device__ __forceinline__ float sinf(float x) { return __nv_sinf(x); }
__device__ __forceinline__ float cosf(float x) { return __nv_cosf(x); }
__device__ __forceinline__ float erfcf(float x) { return __nv_erfcf(x); }
__device__ __forceinline__ float fmaf(float a, float b, float c) { return __nv_fmaf(a, b, c); }
__device__ __forceinline__ float fabsf(float x) { return __builtin_fabsf(x); }
#else
#define ALWAYS
#endif

// Helpers of one file lie in a named namespace: an anonymous one would put the folder's name, hashed, into the compiled symbols, and the
// same sources would give other binaries elsewhere.
namespace kinema {}
using namespace kinema;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#define KERNEL extern "C" __global__ void

enum Type { F32 = 0, F16 = 1, BF16 = 2, F64 = 3 };

/** Four 32-bit words, moved as one. */
struct __align__(16) Words { u32 w[4]; };

/** Row r begins at element (r / count) * outer + (r % count) * inner. */
struct Rows {
    i64 outer;
    i64 inner;
    i32 count;
    i32 unused;

    __device__ __forceinline__ i64 at(i64 row) const {
        if (count == 1) {
            return row * outer;
        }
        // Row numbers fit 32 bits far beyond any tensor here; the 64-bit division would cost more than the row.
        u32 r = (u32) row;
        u32 c = (u32) count;
        return (i64) (r / c) * outer + (i64) (r % c) * inner;
    }
};

// ---- 16-bit floats -------------------------------------------------------------------------------------------------

__device__ __forceinline__ float bits_float(u32 bits) {
    float f;
    asm("mov.b32 %0, %1;" : "=f"(f) : "r"(bits));
    return f;
}

__device__ __forceinline__ u32 float_bits(float f) {
    u32 bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(f));
    return bits;
}

__device__ __forceinline__ double bits_double(u64 bits) {
    double d;
    asm("mov.b64 %0, %1;" : "=d"(d) : "l"(bits));
    return d;
}

__device__ __forceinline__ u64 double_bits(double d) {
    u64 bits;
    asm("mov.b64 %0, %1;" : "=l"(bits) : "d"(d));
    return bits;
}

__device__ __forceinline__ float f16_float(u16 h) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}

__device__ __forceinline__ u16 float_f16(float f) {
    u16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

__device__ __forceinline__ float bf16_float(u16 h) { return bits_float((u32) h << 16); }

__device__ __forceinline__ u16 float_bf16(float f) {
#if __CUDA_ARCH__ >= 800
    u16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
#else
    u32 bits = float_bits(f);
    if (f != f) {
        return (u16) ((bits >> 16) | 0x40);
    }
    return (u16) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
#endif
}

/** Two floats rounded and packed, the first in the low half. */
__device__ __forceinline__ u32 pack_f16(float low, float high) {
#if __CUDA_ARCH__ >= 800
    u32 p;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(high), "f"(low));
    return p;
#else
    return (u32) float_f16(low) | ((u32) float_f16(high) << 16);
#endif
}

__device__ __forceinline__ u32 pack_bf16(float low, float high) {
#if __CUDA_ARCH__ >= 800
    u32 p;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(high), "f"(low));
    return p;
#else
    return (u32) float_bf16(low) | ((u32) float_bf16(high) << 16);
#endif
}

// ---- single elements -----------------------------------------------------------------------------------------------

__device__ __forceinline__ i64 type_bytes(i32 type) { return type == F32 ? 4 : type == F64 ? 8 : 2; }

__device__ __forceinline__ float load(const void* p, i32 type, i64 i) {
    if (type == F32) {
        return ((const float*) p)[i];
    }
    u16 h = ((const u16*) p)[i];
    return type == F16 ? f16_float(h) : bf16_float(h);
}

__device__ __forceinline__ void store(void* p, i32 type, i64 i, float v) {
    if (type == F32) {
        ((float*) p)[i] = v;
    } else {
        ((u16*) p)[i] = type == F16 ? float_f16(v) : float_bf16(v);
    }
}

/** p advanced by elements of its type. */
__device__ __forceinline__ const void* advance(const void* p, i32 type, i64 elements) {
    return (const char*) p + elements * type_bytes(type);
}

__device__ __forceinline__ void* advance(void* p, i32 type, i64 elements) { return (char*) p + elements * type_bytes(type); }

// ---- vectors of eight ----------------------------------------------------------------------------------------------

/** Do all rows of this view begin at 16-byte boundaries? */
__device__ __forceinline__ bool aligned16(const void* p, i32 type, const Rows& rows) {
    i64 bytes = type_bytes(type);
    i64 inner = rows.count == 1 ? 0 : rows.inner;
    return (((i64) p | (rows.outer * bytes) | (inner * bytes)) & 15) == 0;
}

__device__ __forceinline__ bool aligned16(const void* p, i32 type, i64 stride) {
    return (((i64) p | (stride * type_bytes(type))) & 15) == 0;
}

/** Eight elements as they lie in memory: four words of 16-bit floats, or eight words of FP32. */
struct Raw8 {
    Words low;
    Words high;
};

/**
 * Fetches elements [i, i + 8) of p, those from index n on as 0. Separate from unpack8, so that several fetches are on their way before
 * the first is used: a conversion here would wait for each in turn.
 */
__device__ __forceinline__ Raw8 fetch8(const void* p, i32 type, i64 i, i64 n, bool aligned) {
    Raw8 raw = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (aligned && i + 8 <= n) {
        const Words* from = (const Words*) advance(p, type, i);
        raw.low = from[0];
        if (type == F32) {
            raw.high = from[1];
        }
        return raw;
    }
    if (type == F32) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            raw.low.w[j] = i + j < n ? ((const u32*) p)[i + j] : 0;
            raw.high.w[j] = i + 4 + j < n ? ((const u32*) p)[i + 4 + j] : 0;
        }
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            u32 first = i + 2 * j < n ? ((const u16*) p)[i + 2 * j] : 0;
            u32 second = i + 2 * j + 1 < n ? ((const u16*) p)[i + 2 * j + 1] : 0;
            raw.low.w[j] = first | (second << 16);
        }
    }
    return raw;
}

__device__ __forceinline__ void unpack8(const Raw8& raw, i32 type, float v[8]) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (type == F32) {
            v[j] = bits_float(raw.low.w[j]);
            v[4 + j] = bits_float(raw.high.w[j]);
        } else if (type == F16) {
            v[2 * j] = f16_float((u16) raw.low.w[j]);
            v[2 * j + 1] = f16_float((u16) (raw.low.w[j] >> 16));
        } else {
            v[2 * j] = bits_float(raw.low.w[j] << 16);
            v[2 * j + 1] = bits_float(raw.low.w[j] & 0xffff0000u);
        }
    }
}

/** fetch8 and unpack8 in one, for values that are used at once. */
__device__ __forceinline__ void load8(const void* p, i32 type, i64 i, i64 n, bool aligned, float v[8]) {
    if (aligned && i + 8 <= n) {
        if (type == F32) {
            unpack8(fetch8(p, F32, i, n, true), F32, v);
        } else {
            unpack8(fetch8(p, F16, i, n, true), type, v);
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++) {
        v[j] = i + j < n ? load(p, type, i + j) : 0.0f;
    }
}

/** Stores v to elements [i, i + 8) of p that lie below n. */
__device__ __forceinline__ void store8(void* p, i32 type, i64 i, i64 n, bool aligned, const float v[8]) {
    if (aligned && i + 8 <= n) {
        if (type == F32) {
            Words a, b;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                a.w[j] = float_bits(v[j]);
                b.w[j] = float_bits(v[4 + j]);
            }
            Words* to = (Words*) ((float*) p + i);
            to[0] = a;
            to[1] = b;
        } else {
            Words q;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                q.w[j] = type == F16 ? pack_f16(v[2 * j], v[2 * j + 1]) : pack_bf16(v[2 * j], v[2 * j + 1]);
            }
            *(Words*) ((u16*) p + i) = q;
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < 8; j++) {
        if (i + j < n) {
            store(p, type, i + j, v[j]);
        }
    }
}

// ---- warps and blocks ----------------------------------------------------------------------------------------------

__device__ __forceinline__ u32 shuffle_xor(u32 v, int mask) {
    u32 r;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(mask));
    return r;
}

__device__ __forceinline__ float shuffle_xor(float v, int mask) { return bits_float(shuffle_xor(float_bits(v), mask)); }

__device__ __forceinline__ double shuffle_xor(double v, int mask) {
    u64 bits = double_bits(v);
    u32 low = shuffle_xor((u32) bits, mask);
    u32 high = shuffle_xor((u32) (bits >> 32), mask);
    return bits_double(((u64) high << 32) | low);
}

__device__ __forceinline__ int leading_zeros(u32 v) {
    int n;
    asm("clz.b32 %0, %1;" : "=r"(n) : "r"(v));
    return n;
}

__device__ __forceinline__ void sync_warp() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

/** NaN in either argument is ignored, as fmaxf does. */
__device__ __forceinline__ float max_float(float a, float b) {
    float r;
    asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

struct Sum {
    static __device__ __forceinline__ float neutral() { return 0.0f; }
    static __device__ __forceinline__ float of(float a, float b) { return a + b; }
};

/** Magnitudes compared as bits: infinity and NaN win over every number. */
struct LargestBits {
    static __device__ __forceinline__ float neutral() { return 0.0f; }
    static __device__ __forceinline__ float of(float a, float b) {
        u32 x = float_bits(a);
        u32 y = float_bits(b);
        return bits_float(x > y ? x : y);
    }
};

struct Max {
    static __device__ __forceinline__ float neutral() { return bits_float(0xff800000u); }
    static __device__ __forceinline__ float of(float a, float b) { return max_float(a, b); }
};

/** The combination of v over the block, in every thread; blockDim.x is a multiple of 32, at most 1024. */
template <class Combine>
__device__ __forceinline__ float reduce_block(float v) {
    __shared__ float parts[32];
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        v = Combine::of(v, shuffle_xor(v, mask));
    }
    int warps = blockDim.x >> 5;
    if (warps == 1) {
        return v;
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        parts[threadIdx.x >> 5] = v;
    }
    __syncthreads();
    int lane = threadIdx.x & 31;
    v = lane < warps ? parts[lane] : Combine::neutral();
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        v = Combine::of(v, shuffle_xor(v, mask));
    }
    return v;
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

/** a / b within 2 ulp over the whole range. */
__device__ __forceinline__ float quotient(float a, float b) {
    float r;
    asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

__device__ __forceinline__ float square_root(float a) {
    float r;
    asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

/** x / (1 + exp(-x)) by two approximate instructions: within 3 ulp where it matters, |x| ulp where exp(-x) is large and the result small. */
__device__ __forceinline__ float silu(float x) {
    float e;
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(x * -1.4426950408889634f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + e));
    return x * r;
}

/** 0.5 x (1 + tanh(z)) = x / (1 + exp(-2z)): no cancellation where tanh is near -1. */
__device__ __forceinline__ float gelu_tanh(float x) {
    float z = 0.7978845608028654f * (x + 0.044715f * (x * x * x));
    return quotient(x, 1.0f + expf(-2.0f * z));
}

__device__ __forceinline__ float gelu_erf(float x) { return 0.5f * x * erfcf(-0.7071067811865476f * x); }

/** 2^max(e - 11, 0) for largest = f * 2^e, f in [0.5, 1); 1 for infinity and NaN. Read from the exponent bits. */
__device__ __forceinline__ float row_scale(float largest) {
    int biased = (int) (float_bits(largest) >> 23) & 0xff;
    if (biased == 0xff) {
        return 1.0f;
    }
    int e = biased - 126 - 11;
    return bits_float((u32) (127 + (e > 0 ? e : 0)) << 23);
}

/** 1 / s for a power of two s in [2^-126, 2^126], exact. */
__device__ __forceinline__ float inverse_power(float s) { return bits_float((254u << 23) - float_bits(s)); }
