// What a block of flash_hopper.cu works on, and how that gets to shared memory: the items, the layout, and the producer that fills it.
#pragma once

#include "attention.cuh"
#include "wgmma.cuh"

namespace kinema {

/** Rooms for tiles of keys, and as many for values. */
constexpr int STAGES = 4;
/** Channels of a half: as many as a row of 128 bytes holds. */
constexpr int PIECE = 64;
/** Keys of a narrow tile. */
constexpr int FEW = 16;

/** What the copy engine reads: [rows, heads, channels], boxes of 64 channels of one head by 64 rows of queries or a tile of keys. */
struct Maps {
    const TensorMap& q;
    const TensorMap& k;
    const TensorMap& v;
};

// ---- shared memory -------------------------------------------------------------------------------------------------

template <int CHANNELS, int KEYS_OF_TILE, int CONSUMERS>
struct Layout {
    static constexpr int WIDTH = CHANNELS;
    static constexpr int KEYS = KEYS_OF_TILE;
    static constexpr int HALVES = WIDTH / PIECE;
    static constexpr int QUERIES = CONSUMERS * 64;
    /** Rooms for queries: narrow heads leave space for those of the next item. */
    static constexpr int ROOMS = WIDTH == 64 ? 2 : 1;
    /** Where at most 16 keys are left over they make a narrow tile. Wide heads, whose tiles are of 80 keys, waste less without one. */
    static constexpr bool NARROW = WIDTH == 64;
    static constexpr u32 QUERY_HALF = QUERIES * 128;
    static constexpr u32 QUERY_ROOM = QUERY_HALF * HALVES;
    static constexpr u32 KEY_HALF = KEYS * 128;
    static constexpr u32 KEY_TILE = KEY_HALF * HALVES;
    static constexpr u32 FIRST_KEYS = QUERY_ROOM * ROOMS;
    static constexpr u32 FIRST_VALUES = FIRST_KEYS + STAGES * KEY_TILE;
    static constexpr u32 BARRIERS = FIRST_VALUES + STAGES * KEY_TILE;
};

/** Which barrier of a stage, or of a room for queries. */
enum { KEYS_FULL = 0, KEYS_EMPTY = STAGES, VALUES_FULL = 2 * STAGES, VALUES_EMPTY = 3 * STAGES, QUERIES_FULL = 4 * STAGES, QUERIES_EMPTY = 4 * STAGES + 2 };

// ---- items ---------------------------------------------------------------------------------------------------------

/**
 * A run of QUERIES rows of one head. Items count rows before heads, and block b of B takes b, b + B, b + 2B, ...: blocks that run side by
 * side mostly read the keys and values of the same head, which the cache then brings once.
 */
template <class L>
struct Item {
    i32 head;
    i32 first;
    /** Keys that its last row sees, but for those of a narrow tile. */
    i32 end;
    /** Where the keys of a narrow tile begin, which comes first; -1: there is none. It depends on N and on who sees its keys only, not on the block. */
    i32 tail;
    /** Consumers that have a row of it. */
    i32 live;

    __device__ __forceinline__ Item(const Attention& a, i32 number) {
        i32 runs = (a.M + L::QUERIES - 1) / L::QUERIES;
        head = number / runs;
        first = (number - head * runs) * L::QUERIES;
        i32 rows = first + L::QUERIES < a.M ? L::QUERIES : a.M - first;
        end = a.visible(first + rows - 1);
        i32 left = (a.N - 1) % L::KEYS + 1;
        tail = L::NARROW && left <= FEW && end > a.N - left ? a.N - left : -1;
        end = tail < 0 ? end : tail;
        live = (rows + 63) / 64;
    }

    /** No row of it sees a key: nothing is brought, and its results are zeros. */
    __device__ __forceinline__ bool empty() const { return end == 0 && tail < 0; }

    static __device__ __forceinline__ i32 count(const Attention& a) { return (a.M + L::QUERIES - 1) / L::QUERIES * a.heads; }
};

// ---- producer ------------------------------------------------------------------------------------------------------

/** One thread, which tells the copy engine what to bring as soon as there is room for it, the next item's too. */
template <class L>
struct Producer {
    const Attention& a;
    const Maps& maps;
    u32 base;

    __device__ __forceinline__ u32 barrier(int which) const { return base + L::BARRIERS + which * 8; }

    /** Waits until use number `use` of a room, of `rooms`, may overwrite the one before. */
    __device__ __forceinline__ void room(int emptied, u32 use, u32 rooms) const {
        if (use >= rooms) {
            barrier_wait(barrier(emptied + use % rooms), (use / rooms - 1) & 1);
        }
    }

    /** Rows from N on and channels from D on become zeros. */
    __device__ __forceinline__ void tile(const TensorMap& map, u32 to, u32 full, i32 head, i32 row) const {
        barrier_expect(full, L::KEY_TILE);
#pragma unroll
        for (int half = 0; half < L::HALVES; half++) {
            bring_head(to + half * L::KEY_HALF, map, half * PIECE, head, row, full);
        }
    }

    __device__ __forceinline__ void queries(const Item<L>& item, u32 use) const {
        room(QUERIES_EMPTY, use, L::ROOMS);
        u32 to = base + use % L::ROOMS * L::QUERY_ROOM;
        u32 full = barrier(QUERIES_FULL + use % L::ROOMS);
        barrier_expect(full, L::QUERY_ROOM);
#pragma unroll
        for (int half = 0; half < L::HALVES; half++) {
#pragma unroll
            for (int run = 0; run < L::QUERIES; run += 64) {
                bring_head(to + half * L::QUERY_HALF + run * 128, maps.q, half * PIECE, item.head, item.first + run, full);
            }
        }
    }

    __device__ __forceinline__ void keys(i32 g, i32 n, u32 at) const {
        room(KEYS_EMPTY, at, STAGES);
        tile(maps.k, base + L::FIRST_KEYS + at % STAGES * L::KEY_TILE, barrier(KEYS_FULL + at % STAGES), g, n);
    }

    __device__ __forceinline__ void values(i32 g, i32 n, u32 at) const {
        room(VALUES_EMPTY, at, STAGES);
        tile(maps.v, base + L::FIRST_VALUES + at % STAGES * L::KEY_TILE, barrier(VALUES_FULL + at % STAGES), g, n);
    }

    /** In the order in which consumers want them: queries, keys 0, keys 1, values 0, keys 2, values 1, ... */
    __device__ __forceinline__ void run() const {
        u32 use = 0;
        u32 at = 0;
        for (i32 number = blockIdx.x; number < Item<L>::count(a); number += gridDim.x) {
            Item<L> item(a, number);
            if (item.empty()) {
                continue;
            }
            i32 g = a.group(item.head);
            queries(item, use++);
            bool narrow = item.tail >= 0;
            keys(g, narrow ? item.tail : 0, at);
            for (i32 n = narrow ? item.tail : 0, next = narrow ? 0 : L::KEYS;; n = next, next += L::KEYS) {
                if (next < item.end) {
                    keys(g, next, at + 1);
                }
                values(g, n, at);
                at++;
                if (next >= item.end) {
                    break;
                }
            }
        }
    }
};

}  // namespace
