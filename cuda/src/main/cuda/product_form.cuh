// The form of product_hopper.cu's kernels: how many warpgroups multiply, how far the producer runs ahead, and how values leave. No choice
// changes a bit of a result, but that REDUCED takes subnormal terms and sums of residuals for zeros. A launch must know CONSUMERS, STAGES,
// PIECES and TILE_ROWS.
#pragma once

#include "wgmma.cuh"

#ifndef PRODUCT_CONSUMERS
#define PRODUCT_CONSUMERS 2
#endif
#ifndef PRODUCT_STAGES
#define PRODUCT_STAGES 4
#endif
#ifndef PRODUCT_PIECES
#define PRODUCT_PIECES 2
#endif
#ifndef PRODUCT_REDUCED
#define PRODUCT_REDUCED 0
#endif
#ifndef PRODUCT_FORESEEN
#define PRODUCT_FORESEEN 1
#endif
#ifndef PRODUCT_GROUP
#define PRODUCT_GROUP 8
#endif
#ifndef PRODUCT_AWAY
#define PRODUCT_AWAY 0
#endif
#ifndef PRODUCT_ALTERNATE
#define PRODUCT_ALTERNATE 0
#endif
#ifndef PRODUCT_LEAD
#define PRODUCT_LEAD 0
#endif

namespace kinema {

/** Warpgroups that multiply, 64 rows each: two with 232 registers a thread or three with 160. */
constexpr int CONSUMERS = PRODUCT_CONSUMERS;
/** Pieces of 64 along the summed axis that fit in shared memory. */
constexpr int STAGES = PRODUCT_STAGES;
/** Pieces of shared memory a warp has for values on their way to the copy engine, 0, 2 or 4; none: they leave straight from registers. */
constexpr int PIECES = PRODUCT_PIECES;
constexpr bool STAGED = PIECES > 0;
/** Residuals are added where they lie, in the cache, else read, added and written. The cache's adder takes subnormal inputs and results for zeros. */
constexpr bool REDUCED = PRODUCT_REDUCED || STAGED;
/** Residuals are asked for while their tile is computed. */
constexpr bool FORESEEN = PRODUCT_FORESEEN;
/** Results leave the cache before operands do. */
constexpr bool AWAY = PRODUCT_AWAY;
/** Pairs of row tiles that are computed together with all columns before the next ones: what they share stays in the cache. */
constexpr i32 GROUP = PRODUCT_GROUP;
/** Steps that a consumer is behind the one before it, so that one multiplies while another's values leave; 0: as it happens. */
constexpr i32 LEAD = PRODUCT_LEAD;

/** Each consumer has tiles of its own, of 64 rows, in turn: one multiplies while the other's values leave. Else they share a tile, and its weights. */
constexpr bool ALTERNATE = PRODUCT_ALTERNATE;

constexpr i32 TILE_ROWS = ALTERNATE ? 64 : CONSUMERS * 64;
constexpr i32 TILE_COLUMNS = 256;
constexpr i32 TILE_DEPTH = 64;
constexpr u32 X_BYTES = TILE_ROWS * TILE_DEPTH * 2;
constexpr u32 W_BYTES = TILE_COLUMNS * TILE_DEPTH * 2;
constexpr u32 STAGE_BYTES = X_BYTES + W_BYTES;
/** What a warp gives to the copy engine at a time: 16 rows of 128 bytes. */
constexpr u32 PIECE_BYTES = 16 * 128;
constexpr u32 OUTLETS = STAGES * STAGE_BYTES;
constexpr u32 BARRIERS = OUTLETS + CONSUMERS * 4 * PIECES * PIECE_BYTES;
constexpr u32 FULL = BARRIERS;
constexpr u32 EMPTY = BARRIERS + STAGES * 8;
/** Warps that read a stage. */
constexpr u32 STAGE_WARPS = TILE_ROWS / 16;
constexpr int THREADS = 128 + CONSUMERS * 128;

static_assert(CONSUMERS == 2 || CONSUMERS == 3, "registers of two or of three consumers");
static_assert(!ALTERNATE || (CONSUMERS == 2 && LEAD == 0), "two take turns, and need no other lead");
static_assert(LEAD < STAGES, "the first consumer gets ahead by stages that the others still need");
static_assert(PIECES == 0 || PIECES == 2 || PIECES == 4, "pieces take turns by the bits of their number");
static_assert(BARRIERS + STAGES * 16 + 1024 <= 227 * 1024, "shared memory of a block");

}  // namespace
