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

/**
 * Probabilities of BF16 attention are rounded to FP16 for the second product: BF16 would leave them 2^-9 off. Its values become FP16
 * too (kinema_flash_values), times a power of two for each key/value head that is chosen here from the head's largest finite magnitude, as
 * BF16 bits:
 *
 * - 2^6, the guess, where it puts the largest into [1, 2^16); a head of zeros takes it too;
 * - else what puts the largest into [2^15, 2^16), at most 2^126. BF16 has 8 significant bits, so the largest is 65280 at most: FP16 holds it.
 *
 * A scaled magnitude from 2^-17 on keeps all its 8 bits (FP16 counts in steps of 2^-24 and finer), a smaller one is at most 2^-25 off. Against
 * the head's largest that is 2^-25 in the worst case, 2^-40 with a scale that was chosen: less than one FP32 sum rounds. At 2^126
 * nothing is lost at all: the smallest subnormal becomes 2^-7. Sums are FP32, and a power of two changes none of their roundings.
 */
__device__ __forceinline__ float value_scale(u32 largest) {
    i32 exponent = (i32) (largest >> 7);
    bool guessed = largest == 0 || (exponent >= 127 - 6 && exponent < 127 + 10);
    i32 power = guessed ? 6 : 127 + 15 - exponent;
    return bits_float((u32) (127 + (power < 126 ? power : 126)) << 23);
}

/** What sums of such values are multiplied by. */
__device__ __forceinline__ float value_unscale(u32 largest) { return inverse_power(value_scale(largest)); }

/**
 * Probabilities of BF16 attention are computed 2^8 times as large, which their sum undoes: FP16 then keeps a probability's bits down to
 * 2^-22 of the row's largest, and what it drops is below 2^-33.
 */
template <int TYPE>
__device__ __forceinline__ float raised(float bias) {
    return TYPE == BF16 ? bias - 8.0f : bias;
}

#define ATTENTION_ARGUMENTS q, qRow, qHead, k, kRow, kHead, v, vRow, vHead, out, outRow, outHead, outType, M, N, heads, kvHeads, D, scale, causal
