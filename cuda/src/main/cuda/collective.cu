// Sums over the buffers of several ranks that lie in one address space: on one GPU, or on GPUs that reach each other's memory.
#include "common.cuh"

namespace kinema {

const int MOST_RANKS = 8;

/** The ranks' buffers, in the order of ranks; unused ones are null. */
struct Peers {
    float* at[MOST_RANKS];
};

/** For each code: the ranks in the order of addition, two bits each from the lowest on, and bit 8 for (p + q) + (r + s). */
struct Trees {
    i32 packed[15];
    i32 unused;
};

/** What each tree makes of a probe, as bits. */
struct Expected {
    u32 bits[15];
    u32 unused;
};

__device__ __forceinline__ i64 first_of_grid() { return (i64) blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ i64 grid_step() { return (i64) gridDim.x * blockDim.x; }

/** Which rank's chunk element i lies in. A division of 64 bits would cost more than the sum, and few sums need one. */
__device__ __forceinline__ int slot_of(i64 i, i64 chunk, int ranks) {
    if (((i | chunk) >> 32) == 0) {
        return (int) ((u32) i / (u32) chunk % (u32) ranks);
    }
    return (int) (i / chunk % ranks);
}

/** The ring's order: a chunk begins with the rank after its own and ends with it. */
__device__ __forceinline__ int rank_at(int slot, int k, int ranks) {
    int rank = slot + 1 + k;
    return rank >= ranks ? rank - ranks : rank;
}

__device__ __forceinline__ float pick(int which, float a, float b, float c, float d) {
    float low = (which & 1) ? b : a;
    float high = (which & 1) ? d : c;
    return (which & 2) ? high : low;
}

__device__ __forceinline__ float tree_sum(int packed, float a, float b, float c, float d) {
    float first = pick(packed & 3, a, b, c, d) + pick((packed >> 2) & 3, a, b, c, d);
    float third = pick((packed >> 4) & 3, a, b, c, d);
    float fourth = pick((packed >> 6) & 3, a, b, c, d);
    return (packed & 256) ? first + (third + fourth) : (first + third) + fourth;
}

}  // namespace kinema

KERNEL __launch_bounds__(256) kinema_ring_sum(Peers peers, i32 ranks, i64 from, i64 to, i64 chunk) {
    // Parameters cannot be indexed by a variable without a copy on every thread's stack.
    __shared__ float* at[MOST_RANKS];
    bool aligned = (chunk & 3) == 0;
#pragma unroll
    for (int k = 0; k < MOST_RANKS; k++) {
        aligned = aligned && ((i64) peers.at[k] & 15) == 0;
        if (threadIdx.x == 0) {
            at[k] = peers.at[k];
        }
    }
    __syncthreads();
    // A vector does not cross chunks: from is where a chunk begins, and chunks are whole vectors or there are none.
    i64 vectors = aligned ? (to - from) / 4 : 0;
    for (i64 v = first_of_grid(); v < vectors; v += grid_step()) {
        i64 i = from + v * 4;
        int slot = slot_of(i, chunk, ranks);
        Words x = *(const Words*) (at[rank_at(slot, 0, ranks)] + i);
        for (int k = 1; k < ranks; k++) {
            Words y = *(const Words*) (at[rank_at(slot, k, ranks)] + i);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                x.w[j] = float_bits(bits_float(x.w[j]) + bits_float(y.w[j]));
            }
        }
        for (int k = 0; k < ranks; k++) {
            *(Words*) (at[k] + i) = x;
        }
    }
    for (i64 i = from + vectors * 4 + first_of_grid(); i < to; i += grid_step()) {
        int slot = slot_of(i, chunk, ranks);
        float x = at[rank_at(slot, 0, ranks)][i];
        for (int k = 1; k < ranks; k++) {
            x = x + at[rank_at(slot, k, ranks)][i];
        }
        for (int k = 0; k < ranks; k++) {
            at[k][i] = x;
        }
    }
}

KERNEL __launch_bounds__(256) kinema_peer_narrow(const u32* sum, Expected expected, u16* possible, i64 elements) {
    for (i64 i = first_of_grid(); i < elements; i += grid_step()) {
        u32 bits = sum[i];
        u32 matching = 0;
#pragma unroll
        for (int code = 0; code < 15; code++) {
            matching |= bits == expected.bits[code] ? 1u << code : 0u;
        }
        possible[i] = (u16) (possible[i] & matching);
    }
}

KERNEL __launch_bounds__(256) kinema_peer_code(const u16* possible, u8* codes, i64 elements, u64* unclear) {
    u32 found = 0;
    for (i64 i = first_of_grid(); i < elements; i += grid_step()) {
        u32 mask = possible[i];
        bool one = mask != 0 && (mask & (mask - 1)) == 0;
        found += one ? 0 : 1;
        codes[i] = (u8) (one ? 31 - leading_zeros(mask) : 0);
    }
    if (found > 0) {
        asm volatile("red.global.add.u64 [%0], %1;" ::"l"(unclear), "l"((u64) found) : "memory");
    }
}

KERNEL __launch_bounds__(256) kinema_peer_sum(const float* a, const float* b, const float* c, const float* d, const u8* codes, Trees trees, float* out,
                                              i64 elements) {
    __shared__ i32 packed[16];
    if (threadIdx.x < 15) {
        packed[threadIdx.x] = trees.packed[threadIdx.x];
    }
    __syncthreads();
    bool aligned = (((i64) a | (i64) b | (i64) c | (i64) d | (i64) out) & 15) == 0 && ((i64) codes & 3) == 0;
    i64 vectors = aligned ? elements / 4 : 0;
    for (i64 v = first_of_grid(); v < vectors; v += grid_step()) {
        Words p = ((const Words*) a)[v];
        Words q = ((const Words*) b)[v];
        Words r = ((const Words*) c)[v];
        Words s = ((const Words*) d)[v];
        u32 four = ((const u32*) codes)[v];
        Words sum;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            sum.w[j] = float_bits(tree_sum(packed[(four >> (8 * j)) & 15], bits_float(p.w[j]), bits_float(q.w[j]), bits_float(r.w[j]), bits_float(s.w[j])));
        }
        ((Words*) out)[v] = sum;
    }
    for (i64 i = vectors * 4 + first_of_grid(); i < elements; i += grid_step()) {
        out[i] = tree_sum(packed[codes[i]], a[i], b[i], c[i], d[i]);
    }
}
