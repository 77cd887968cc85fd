// A row of a matrix in the registers of one block.
#pragma once

#include "common.cuh"

// As many blocks of up to 256 threads on one multiprocessor as go without spills: three, or two for clang's SM70 code. There, loads
// are also kept from moving in front of each other's use: hoisted together they would spill. HELD_BOUNDS: one fewer, for kernels that
// keep results of a long row.
#ifdef __clang__
#define ROW_BOUNDS __launch_bounds__(256, 2)
#define HELD_BOUNDS __launch_bounds__(256, 1)
#define KEEP_ORDER asm volatile("" ::: "memory")
#else
#define ROW_BOUNDS __launch_bounds__(256, 3)
#define HELD_BOUNDS __launch_bounds__(256, 2)
#define KEEP_ORDER
#endif

/** Vectors of eight that one thread keeps in registers; longer rows are read again (from cache). */
constexpr int KEPT = 3;

/** One row of a block: vector t of thread i is vector t * blockDim.x + i of the row. */
struct BlockRow {
    const void* x;
    i32 type;
    i64 width;
    bool aligned;
    float kept[KEPT][8];

    __device__ __forceinline__ i64 column(int t) const { return ((i64) t * blockDim.x + threadIdx.x) * 8; }

    __device__ __forceinline__ void read() {
#pragma unroll
        for (int t = 0; t < KEPT; t++) {
            load8(x, type, column(t), width, aligned, kept[t]);
        }
    }

    /** Calls use(column, values) for every vector of this thread. */
    template <class Use>
    __device__ __forceinline__ void each(Use use) {
#pragma unroll
        for (int t = 0; t < KEPT; t++) {
            if (column(t) < width) {
                use(column(t), kept[t]);
            }
        }
#pragma unroll 1
        for (int t = KEPT; column(t) < width; t++) {
            float v[8];
            load8(x, type, column(t), width, aligned, v);
            use(column(t), v);
        }
    }
};

__device__ __forceinline__ void copy8(const float from[8], float to[8]) {
#pragma unroll
    for (int j = 0; j < 8; j++) {
        to[j] = from[j];
    }
}
