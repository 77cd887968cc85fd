package io.kinema.cuda.blas;

import java.lang.foreign.MemorySegment;

/**
 * How cuBLASLt runs one shape; the native descriptors belong to the {@link CublasLt} that made it.
 *
 * @param description algorithm, tile, stages and split, for the run record
 */
record MatmulPlan(MatmulShape shape, MemorySegment operation, MemorySegment x, MemorySegment w, MemorySegment out,
                  MemorySegment algorithm, long workspaceBytes, String description) {
}
