// Copies, gathers, blends, seeded values and checks.
#include "common.cuh"

namespace kinema {

/** Up to six axes, outermost first; unused ones lie in front with size 1 and stride 0. */
struct Strided {
    i64 size[6];
    i64 a[6];
    i64 b[6];
    i32 rank;
    i32 unused;
};

struct Fade {
    i64 size[6];
    i64 a[6];
    i64 b[6];
    i64 out[6];
    i32 rank;
    i32 axis;
};

__device__ __forceinline__ i64 first_element() { return (i64) blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ i64 element_step() { return (i64) gridDim.x * blockDim.x; }

/** Splits index into coordinates, calling use(axis, coordinate) from the last axis to the first. */
template <class Use>
__device__ __forceinline__ void coordinates(i64 index, i64 elements, const i64 size[6], Use use) {
    if (elements <= 0x7fffffff) {
        u32 rest = (u32) index;
#pragma unroll
        for (int axis = 5; axis >= 0; axis--) {
            u32 n = (u32) size[axis];
            u32 next = n == 1 ? rest : rest / n;
            use(axis, (i64) (rest - next * n));
            rest = n == 1 ? rest : next;
        }
        return;
    }
    i64 rest = index;
#pragma unroll
    for (int axis = 5; axis >= 0; axis--) {
        i64 next = rest / size[axis];
        use(axis, rest - next * size[axis]);
        rest = next;
    }
}

/** Rounds to odd, so that a second rounding to a type at least two bits narrower equals one rounding. */
__device__ __forceinline__ float odd_float(double d) {
    float f;
    asm("cvt.rz.f32.f64 %0, %1;" : "=f"(f) : "d"(d));
    return (double) f == d || d != d ? f : bits_float(float_bits(f) | 1);
}

__device__ __forceinline__ void store_double(void* p, i32 type, i64 i, double v) {
    if (type == F64) {
        ((double*) p)[i] = v;
    } else if (type == F32) {
        ((float*) p)[i] = (float) v;
    } else {
        store(p, type, i, odd_float(v));
    }
}

__device__ __forceinline__ void copy_element(const void* src, i32 srcType, i64 from, void* dst, i32 dstType, i64 to) {
    switch (srcType) {
        case 8: ((u8*) dst)[to] = ((const u8*) src)[from]; break;
        case 16: ((u16*) dst)[to] = ((const u16*) src)[from]; break;
        case 32: ((u32*) dst)[to] = ((const u32*) src)[from]; break;
        case 64: ((u64*) dst)[to] = ((const u64*) src)[from]; break;
        case 128: ((Words*) dst)[to] = ((const Words*) src)[from]; break;
        case F64: store_double(dst, dstType, to, ((const double*) src)[from]); break;
        default:
            if (dstType == F64) {
                ((double*) dst)[to] = (double) load(src, srcType, from);
            } else {
                store(dst, dstType, to, load(src, srcType, from));
            }
    }
}

}  // namespace

KERNEL __launch_bounds__(256) kinema_copy(const void* src, i32 srcType, void* dst, i32 dstType, Strided s, i64 elements) {
    for (i64 i = first_element(); i < elements; i += element_step()) {
        i64 from = 0;
        i64 to = 0;
        coordinates(i, elements, s.size, [&](int axis, i64 at) ALWAYS {
            from += at * s.a[axis];
            to += at * s.b[axis];
        });
        copy_element(src, srcType, from, dst, dstType, to);
    }
}

KERNEL __launch_bounds__(256) kinema_transpose(const void* src, i32 srcType, i64 srcBatch, i64 srcRow, void* dst, i32 dstType, i64 dstBatch,
                                               i64 dstRow, i64 rows, i64 columns) {
    __shared__ float tile[32][33];
    i64 firstRow = (i64) blockIdx.y * 32;
    i64 firstColumn = (i64) blockIdx.x * 32;
    const void* from = advance(src, srcType, blockIdx.z * srcBatch);
    void* to = advance(dst, dstType, blockIdx.z * dstBatch);
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        i64 r = firstRow + threadIdx.y + j;
        i64 c = firstColumn + threadIdx.x;
        if (r < rows && c < columns) {
            tile[threadIdx.y + j][threadIdx.x] = load(from, srcType, r * srcRow + c);
        }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        i64 r = firstRow + threadIdx.x;
        i64 c = firstColumn + threadIdx.y + j;
        if (r < rows && c < columns) {
            store(to, dstType, c * dstRow + r, tile[threadIdx.x][threadIdx.y + j]);
        }
    }
}

KERNEL __launch_bounds__(256) kinema_fill(void* dst, i32 dstType, Strided s, float value, i64 elements) {
    for (i64 i = first_element(); i < elements; i += element_step()) {
        i64 to = 0;
        coordinates(i, elements, s.size, [&](int axis, i64 at) ALWAYS { to += at * s.a[axis]; });
        store_double(dst, dstType, to, (double) value);
    }
}

namespace kinema {

template <bool SCATTER>
__device__ __forceinline__ void move_rows(const void* src, i64 srcStride, i32 srcType, const i32* index, void* dst, i64 dstStride, i32 dstType,
                                          i64 rows, i64 width) {
    i64 column = ((i64) blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (column >= width) {
        return;
    }
    bool srcAligned = aligned16(src, srcType, srcStride);
    bool dstAligned = aligned16(dst, dstType, dstStride);
    for (i64 row = (i64) blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += (i64) gridDim.y * blockDim.y) {
        i64 from = SCATTER ? row : (i64) index[row];
        i64 to = SCATTER ? (i64) index[row] : row;
        float v[8];
        load8(advance(src, srcType, from * srcStride), srcType, column, width, srcAligned, v);
        store8(advance(dst, dstType, to * dstStride), dstType, column, width, dstAligned, v);
    }
}

}  // namespace

KERNEL kinema_gather_rows(const void* src, i64 srcStride, i32 srcType, const i32* index, void* dst, i64 dstStride, i32 dstType, i64 rows,
                          i64 width) {
    move_rows<false>(src, srcStride, srcType, index, dst, dstStride, dstType, rows, width);
}

KERNEL kinema_scatter_rows(const void* src, i64 srcStride, i32 srcType, const i32* index, void* dst, i64 dstStride, i32 dstType, i64 rows,
                           i64 width) {
    move_rows<true>(src, srcStride, srcType, index, dst, dstStride, dstType, rows, width);
}

KERNEL __launch_bounds__(256) kinema_cross_fade(const float* a, const float* b, float* out, Fade f, i64 elements) {
    for (i64 i = first_element(); i < elements; i += element_step()) {
        i64 atA = 0;
        i64 atB = 0;
        i64 to = 0;
        float ramp = 0.0f;
        coordinates(i, elements, f.size, [&](int axis, i64 at) ALWAYS {
            atA += at * f.a[axis];
            atB += at * f.b[axis];
            to += at * f.out[axis];
            if (axis == f.axis) {
                ramp = (float) at / (float) f.size[axis];
            }
        });
        float fading = a[atA] * (1.0f - ramp);
        float rising = b[atB] * ramp;
        out[to] = fading + rising;
    }
}

// ---- seeded values -------------------------------------------------------------------------------------------------

namespace kinema {

__device__ __forceinline__ u32 high_product(u32 a, u32 b) { return (u32) (((u64) a * b) >> 32); }

/** Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011). */
__device__ __forceinline__ void philox(u32 counter[4], u32 key0, u32 key1) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 high0 = high_product(0xD2511F53u, counter[0]);
        u32 low0 = 0xD2511F53u * counter[0];
        u32 high1 = high_product(0xCD9E8D57u, counter[2]);
        u32 low1 = 0xCD9E8D57u * counter[2];
        counter[0] = high1 ^ counter[1] ^ key0;
        counter[1] = low1;
        counter[2] = high0 ^ counter[3] ^ key1;
        counter[3] = low0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/** (0, 1), never an end. */
__device__ __forceinline__ float unit(u32 bits) { return ((float) (bits >> 9) + 0.5f) * 1.1920928955078125e-7f; }

}  // namespace

KERNEL __launch_bounds__(256) kinema_random(void* dst, i32 dstType, i64 elements, i64 seed, i64 stream, float mean, float deviation, i32 kind) {
    i64 vectors = (elements + 7) / 8;
    for (i64 i = first_element(); i < vectors; i += element_step()) {
        u32 bits[8];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            u32 counter[4] = {(u32) i, (u32) (i >> 32), (u32) stream, ((u32) (stream >> 32) << 1) | (u32) half};
            philox(counter, (u32) seed, (u32) (seed >> 32));
#pragma unroll
            for (int j = 0; j < 4; j++) {
                bits[4 * half + j] = counter[j];
            }
        }
        if (kind == 2) {
            signed char* bytes = (signed char*) dst;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                if (i * 8 + j < elements) {
                    bytes[i * 8 + j] = (signed char) ((int) high_product(bits[j], 255u) - 127);
                }
            }
            continue;
        }
        float v[8];
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            if (kind == 1) {
                v[j] = mean + deviation * (2.0f * unit(bits[j]) - 1.0f);
                v[j + 1] = mean + deviation * (2.0f * unit(bits[j + 1]) - 1.0f);
            } else {
                float radius = square_root(-2.0f * logf(unit(bits[j])));
                float angle = 6.283185307179586f * unit(bits[j + 1]);
                v[j] = mean + deviation * (radius * cosf(angle));
                v[j + 1] = mean + deviation * (radius * sinf(angle));
            }
        }
        store8(dst, dstType, i * 8, elements, ((i64) dst & 15) == 0, v);
    }
}

// ---- checks --------------------------------------------------------------------------------------------------------

KERNEL kinema_count_not_finite(const void* x, Rows xRows, i32 xType, i64 rows, i64 width, u64* count) {
    i64 column = ((i64) blockIdx.x * blockDim.x + threadIdx.x) * 8;
    bool aligned = aligned16(x, xType, xRows);
    u32 found = 0;
    if (column < width) {
        for (i64 row = (i64) blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += (i64) gridDim.y * blockDim.y) {
            float v[8];
            load8(advance(x, xType, xRows.at(row)), xType, column, width, aligned, v);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                found += ((float_bits(v[j]) >> 23) & 0xff) == 0xff ? 1 : 0;
            }
        }
    }
    if (found > 0) {
        asm volatile("red.global.add.u64 [%0], %1;" ::"l"(count), "l"((u64) found) : "memory");
    }
}

namespace kinema {

__device__ __forceinline__ double block_sum(double v) {
    __shared__ double parts[8];
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        v += shuffle_xor(v, mask);
    }
    if ((threadIdx.x & 31) == 0) {
        parts[threadIdx.x >> 5] = v;
    }
    __syncthreads();
    double all = 0.0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        all += parts[i];
    }
    return all;
}

}  // namespace

KERNEL __launch_bounds__(256) kinema_sum(const void* x, Rows xRows, i32 xType, i64 rows, i64 width, double* partial) {
    bool aligned = aligned16(x, xType, xRows);
    i64 perRow = (width + 7) / 8;
    i64 total = rows * perRow;
    double sum = 0.0;
    for (i64 i = first_element(); i < total; i += element_step()) {
        i64 row = rows == 1 ? 0 : i / perRow;
        float v[8];
        load8(advance(x, xType, xRows.at(row)), xType, (i - row * perRow) * 8, width, aligned, v);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            sum += (double) v[j];
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

KERNEL __launch_bounds__(256) kinema_sum_finish(const double* partial, double* out) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < 1024; i += 256) {
        sum += partial[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        out[0] = sum;
    }
}
