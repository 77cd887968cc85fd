// The arguments and the masks that all attention kernels share.
#pragma once

#include "common.cuh"

#define ATTENTION_PARAMETERS                                                                                                        \
    const void *q, i64 qRow, i64 qHead, const void *k, i64 kRow, i64 kHead, const void *v, i64 vRow, i64 vHead, void *out,          \
        i64 outRow, i64 outHead, i32 outType, i32 M, i32 N, i32 heads, i32 kvHeads, i32 D, float scale, i32 causal

struct Attention {
    const void* q;
    i64 qRow, qHead;
    const void* k;
    i64 kRow, kHead;
    const void* v;
    i64 vRow, vHead;
    void* out;
    i64 outRow, outHead;
    i32 outType, M, N, heads, kvHeads, D;
    float scale;
    i32 causal;

    /** The head of k and v that head h of q reads. */
    __device__ __forceinline__ i32 group(i32 h) const { return h / (heads / kvHeads); }

    /** Keys that row m sees: [0, visible). */
    __device__ __forceinline__ i32 visible(i32 m) const {
        if (!causal) {
            return N;
        }
        i32 n = m + 1 + N - M;
        return n < 0 ? 0 : n > N ? N : n;
    }
};

#define ATTENTION_ARGUMENTS q, qRow, qHead, k, kRow, kHead, v, vRow, vHead, out, outRow, outHead, outType, M, N, heads, kvHeads, D, scale, causal
