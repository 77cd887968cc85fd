// The instructions of SM90 that flash_hopper.cu and product_hopper.cu are made of: barriers in shared memory, turns, clusters, the tensor
// copy engine, and warpgroup products.
#pragma once

#include "common.cuh"

__device__ __forceinline__ u32 shared_address(const void* p) {
    u64 address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
    return (u32) address;
}

// ---- barriers ------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile(
            "{ .reg .pred done;\n"
            "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
            "@!done bra again; }" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void turn_wait(int id) { asm volatile("bar.sync %0, 256;" ::"r"(id) : "memory"); }

__device__ __forceinline__ void turn_pass(int id) { asm volatile("bar.arrive %0, 256;" ::"r"(id) : "memory"); }

// ---- clusters and the tensor copy engine ---------------------------------------------------------------------------------

/** Describes a matrix in device memory for the copy engine; made by cuTensorMapEncodeTiled. */
struct __align__(64) TensorMap { u64 opaque[16]; };

__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/** As threadIdx.x, but never kept in a register from an earlier call. */
__device__ __forceinline__ i32 thread_anew() {
    i32 thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

/** All threads of all blocks of the cluster. */
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

/** The same for blocks that have nothing more to show each other. */
__device__ __forceinline__ void cluster_leave() {
    asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
}

/** Barriers that were just initialised become visible to the cluster and to the copy engine. */
__device__ __forceinline__ void barriers_made() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/**
 * Arrives at the barrier of this address in the block `rank` of the cluster. For having read only: it orders no writes beyond the block,
 * which would cost a fence of the whole device every time.
 */
__device__ __forceinline__ void barrier_arrive_at(u32 barrier, u32 rank) {
    asm volatile(
            "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;\n"
            "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier), "r"(rank) : "memory");
}

/** Arrives, and lets the phase wait for so many copied bytes. */
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/** Brings the box that begins at (row, column) of a mapped matrix to shared memory; the barrier counts its bytes. */
__device__ __forceinline__ void bring(u32 to, const TensorMap& map, i32 row, i32 column, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(&map),
                 "r"(barrier), "r"(column), "r"(row) : "memory");
}

/** Brings a box of a mapped [rows, heads, channels]: some rows of one head. Coordinates outside are zeros. */
__device__ __forceinline__ void bring_head(u32 to, const TensorMap& map, i32 channel, i32 head, i32 row, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to), "l"(&map),
                 "r"(barrier), "r"(channel), "r"(head), "r"(row) : "memory");
}

/** As bring, to the same place in every block of the cluster whose bit is set; each block's own barrier counts. */
__device__ __forceinline__ void bring_to_all(u32 to, const TensorMap& map, i32 row, i32 column, u32 barrier, u32 blocks) {
    asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
            "l"(&map), "r"(barrier), "r"(column), "r"(row), "h"((u16) blocks) : "memory");
}

// ---- products ------------------------------------------------------------------------------------------------------

/** Describes a tile in shared memory: 128-byte swizzle, 8-row groups 1024 bytes apart, halves `halfBytes` apart (for transposed reads). */
__device__ __forceinline__ u64 descriptor(u32 address, u32 halfBytes) {
    return (u64) ((address & 0x3ffff) >> 4) | ((u64) (halfBytes >> 4) << 16) | ((u64) (1024 >> 4) << 32) | ((u64) 1 << 62);
}

__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void products_issued() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int LEFT>
__device__ __forceinline__ void products_done() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/** Keeps the compiler from moving uses of registers across the point where a product owns them. */
template <int COUNT>
__device__ __forceinline__ void settle(float (&d)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        asm volatile("" : "+f"(d[i])::"memory");
    }
}

// d = a b (+ d): a and b in shared memory, both with the summed axis contiguous.
#define PRODUCT_SHARED_128(OPERANDS, d, a, b, accumulate)                                                                                   \
    asm volatile(                                                                                                                           \
            "{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32." OPERANDS " {"                             \
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "                               \
            "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "                               \
            "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "                               \
            "%59, %60, %61, %62, %63"                                                                                                       \
            "}, %64, %65, p, 1, 1, 0, 0; }"                                                                                                 \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),                   \
              "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),                        \
              "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),                       \
              "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),                       \
              "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),                       \
              "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),                       \
              "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),                       \
              "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])                                     \
            : "l"(a), "l"(b), "r"(accumulate))

#define PRODUCT_SHARED_16(OPERANDS, d, a, b, accumulate)                                                                                    \
    asm volatile(                                                                                                                           \
            "{ .reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32." OPERANDS " {"                              \
            "%0, %1, %2, %3, %4, %5, %6, %7"                                                                                                \
            "}, %8, %9, p, 1, 1, 0, 0; }"                                                                                                   \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])                                \
            : "l"(a), "l"(b), "r"(accumulate))

#define PRODUCT_SHARED_80(OPERANDS, d, a, b, accumulate)                                                                                    \
    asm volatile(                                                                                                                           \
            "{ .reg .pred p; setp.ne.b32 p, %42, 0; wgmma.mma_async.sync.aligned.m64n80k16.f32." OPERANDS " {"                              \
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "                                    \
            "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39"                            \
            "}, %40, %41, p, 1, 1, 0, 0; }"                                                                                                 \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),                   \
              "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),                        \
              "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),                       \
              "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),                       \
              "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])                                     \
            : "l"(a), "l"(b), "r"(accumulate))

#define PRODUCT_SHARED_256(OPERANDS, d, a, b, accumulate)                                                                                   \
    asm volatile(                                                                                                                           \
            "{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32." OPERANDS " {"                            \
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "                               \
            "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "                               \
            "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "                               \
            "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "                               \
            "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, "                               \
            "%97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, "                                 \
            "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"                                      \
            "}, %128, %129, p, 1, 1, 0, 0; }"                                                                                               \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),                   \
              "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),                        \
              "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),                       \
              "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),                       \
              "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),                       \
              "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),                       \
              "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),                       \
              "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),                       \
              "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]),                       \
              "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]),                       \
              "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]),                       \
              "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]),                       \
              "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]),                  \
              "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]),               \
              "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]),               \
              "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])                              \
            : "l"(a), "l"(b), "r"(accumulate))

// d += a b: a in registers, b in shared memory with the summed axis along rows.
#define PRODUCT_REGISTERS_128(OPERANDS, d, a, b)                                                                                            \
    asm volatile(                                                                                                                           \
            "{ wgmma.mma_async.sync.aligned.m64n128k16.f32." OPERANDS " {"                                                                  \
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "                               \
            "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "                               \
            "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "                               \
            "%59, %60, %61, %62, %63"                                                                                                       \
            "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1; }"                                                                                   \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),                   \
              "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),                        \
              "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),                       \
              "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),                       \
              "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),                       \
              "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),                       \
              "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),                       \
              "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])                                     \
            : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b))

#define PRODUCT_REGISTERS_64(OPERANDS, d, a, b)                                                                                             \
    asm volatile(                                                                                                                           \
            "{ wgmma.mma_async.sync.aligned.m64n64k16.f32." OPERANDS " {"                                                                   \
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "                               \
            "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"                                                                         \
            "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1; }"                                                                                   \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),                   \
              "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),                        \
              "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),                       \
              "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])                                     \
            : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b))

template <int TYPE>
__device__ __forceinline__ void product_shared(float (&d)[8], u64 a, u64 b, int accumulate) {
    if (TYPE == F16) {
        PRODUCT_SHARED_16("f16.f16", d, a, b, accumulate);
    } else {
        PRODUCT_SHARED_16("bf16.bf16", d, a, b, accumulate);
    }
}

template <int TYPE>
__device__ __forceinline__ void product_shared(float (&d)[64], u64 a, u64 b, int accumulate) {
    if (TYPE == F16) {
        PRODUCT_SHARED_128("f16.f16", d, a, b, accumulate);
    } else {
        PRODUCT_SHARED_128("bf16.bf16", d, a, b, accumulate);
    }
}

template <int TYPE>
__device__ __forceinline__ void product_shared(float (&d)[40], u64 a, u64 b, int accumulate) {
    if (TYPE == F16) {
        PRODUCT_SHARED_80("f16.f16", d, a, b, accumulate);
    } else {
        PRODUCT_SHARED_80("bf16.bf16", d, a, b, accumulate);
    }
}

template <int TYPE>
__device__ __forceinline__ void product_shared(float (&d)[128], u64 a, u64 b, int accumulate) {
    if (TYPE == F16) {
        PRODUCT_SHARED_256("f16.f16", d, a, b, accumulate);
    } else {
        PRODUCT_SHARED_256("bf16.bf16", d, a, b, accumulate);
    }
}

__device__ __forceinline__ void product_registers(float (&d)[64], const u32 a[4], u64 b) { PRODUCT_REGISTERS_128("f16.f16", d, a, b); }

__device__ __forceinline__ void product_registers(float (&d)[32], const u32 a[4], u64 b) { PRODUCT_REGISTERS_64("f16.f16", d, a, b); }

// ---- from shared memory to device memory ----------------------------------------------------------------------------------

/** What this thread wrote to shared memory by ordinary stores is visible to the copy engine. */
__device__ __forceinline__ void written_for_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/** Writes the box in shared memory to where it begins at (row, column) of a mapped matrix; what lies outside of the matrix is left out. */
__device__ __forceinline__ void send(const TensorMap& map, i32 row, i32 column, u32 from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(column), "r"(row) : "memory");
}

/**
 * Adds the box in shared memory to a mapped matrix of FP32: one addition an element, to nearest even, done by the cache, which takes
 * subnormal inputs and results for zeros of their sign.
 */
__device__ __forceinline__ void send_sum(const TensorMap& map, i32 row, i32 column, u32 from) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(column), "r"(row)
                 : "memory");
}

/** Ends a group of what this thread sent; it may be empty. */
__device__ __forceinline__ void sent() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/** Waits until all but the last LEFT groups have been read from shared memory. */
template <int LEFT>
__device__ __forceinline__ void sends_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

/** Waits until all groups have arrived. */
__device__ __forceinline__ void sends_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

/** Stores four matrices of 8 by 8 16-bit values, each thread two of a row of each; lane l knows the address of row l % 8 of matrix l / 8. */
__device__ __forceinline__ void store_matrices(u32 address, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

__device__ __forceinline__ void store_shared(u32 address, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
}
