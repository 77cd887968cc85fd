package io.kinema.compute.cpu;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the cpu backend runs on, for reports and {@code doctor}.
 *
 * @param threads     compute threads
 * @param vectorBits  width of the vectors that the Vector API loops use
 * @param blasLibrary path or name of the OpenBLAS library
 * @param blasConfig  OpenBLAS's own description of its build
 * @param blasCore    the kernel family that OpenBLAS chose for this processor
 */
public record CpuFacts(int threads, int vectorBits, String blasLibrary, String blasConfig, String blasCore) {

    /** Facts for a backend of {@code threads} threads. @throws IllegalStateException as {@link CpuBackend#open} */
    public static CpuFacts of(int threads) {
        CpuBackend.requireVectorApi();
        OpenBlas.load();
        return new CpuFacts(threads, Lanes.F32.vectorBitSize(), OpenBlas.path(), OpenBlas.config(), OpenBlas.coreName());
    }

    /** By name, for records. */
    SortedMap<String, String> named() {
        return new TreeMap<>(Map.of("threads", "" + threads, "vector_bits", "" + vectorBits, "blas_core", blasCore));
    }

    /** One line: what was chosen and how to change it. */
    @Override
    public String toString() {
        return threads + " threads (--threads), " + vectorBits + "-bit vectors, OpenBLAS " + blasCore + " from " + blasLibrary
                + " (" + OpenBlasFiles.VARIABLE + ")";
    }
}
