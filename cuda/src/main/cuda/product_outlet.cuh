// How values of product_hopper.cu leave its registers: by pieces of shared memory and the copy engine.
#pragma once

#include "product_form.cuh"
#include "wgmma.cuh"

namespace kinema {

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
    /** Clusters' tiles of rows that are computed together with all columns before the next ones: what they share stays in the cache. */
    i32 together;

    __device__ __forceinline__ float scale(i32 row) const { return rowScale == nullptr ? 1.0f : rowScale[row < rows ? row : 0]; }
};

// ---- values: value i of a thread is column (i / 4) * 8 + (lane % 4) * 2 + i % 2 of row lane / 4 + (i / 2 % 2) * 8 -----------------

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

/** With three consumers registers are few: what is needed after this is not fetched before it. */
template <class FORM>
__device__ __forceinline__ void apart() {
    if (FORM::CONSUMERS == 3) {
        sync_warp();
    }
}

/** Where a thread's values belong, and its warp's room in shared memory on the way there. */
struct Spot {
    i32 lane;
    i32 row;
    i32 column;
    const TensorMap* out;
    u32 room;

    /** Four blocks of eight columns lie in one piece as FP32, eight as 16 bits. Pieces take turns. */
    __device__ __forceinline__ static u32 at(int turn) { return (turn & (PIECES - 1)) * PIECE_BYTES; }

    /** What was in the piece that comes next has been read; a tile has OF pieces and begins with the first. */
    template <int OF>
    __device__ __forceinline__ void open() const {
        if (lane == 0) {
            sends_read<(OF < PIECES ? OF : PIECES) - 1>();
        }
        sync_warp();
    }

    /** Sends a piece that begins at column n. A group is counted even when there is nothing to send, so that turns and groups go together. */
    template <bool SUM>
    __device__ __forceinline__ void close(const Product& p, u32 from, i32 n) const {
        written_for_copies();
        sync_warp();
        if (lane == 0) {
            if (row < p.rows && n < p.columns) {
                SUM ? send_sum(*out, row, n, from) : send(*out, row, n, from);
            }
            sent();
        }
    }
};

/** 16-bit values leave: blocks i to i + 3 of row r * 8, two values a word, OF pieces a tile. */
template <int OF>
__device__ __forceinline__ void leave(const Product& p, Spot at, int i, int r, const u32* w) {
    if (i % 8 == 0 && r == 0) {
        at.open<OF>();
    }
    u32 line = (u32) at.lane & 7;
    u32 to = at.room + line * 128 + ((((u32) at.lane >> 3) ^ line) << 4);
    store_matrices((to ^ ((i & 4) << 4)) + Spot::at(i >> 3) + r * 1024, w[0], w[1], w[2], w[3]);
    if (i % 8 == 4 && r == 1) {
        at.close<false>(p, at.room + Spot::at(i >> 3), at.column + (i >> 3) * 64);
    }
}

/** FP32 values go to piece `turn`: blocks b and b + 2 of its four, row r * 8. */
__device__ __forceinline__ void lay(Spot at, int turn, int b, int r, Two low, Two high) {
    u32 line = (u32) at.lane >> 2;
    // Of two neighbouring rows one stores its blocks in another order: together they meet every bank once.
    bool odd = line & 1;
    u32 to = at.room + line * 128 + (((odd ? 4u : 0u) ^ (((u32) at.lane >> 1) & 1) ^ line) << 4) + (at.lane & 1) * 8;
    u32 further = Spot::at(turn) + r * 1024;
    store_shared((to ^ (b << 5)) + further, odd ? high.x : low.x, odd ? high.y : low.y);
    store_shared((to ^ (b << 5) ^ 64) + further, odd ? low.x : high.x, odd ? low.y : high.y);
}

}  // namespace
