package io.kinema.compute;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a backend says of itself, for records.
 *
 * @param facts                  of the device by name: {@code blas_core}, {@code compute_capability}, ...; no paths, nothing secret
 * @param libraryFiles           of the native libraries it computes with ({@link Backend#libraries()} has their versions)
 * @param peakDeviceBytes        the most device memory in use at once, communication buffers left out; 0 for the host, whose memory is the process's
 * @param peakCommunicationBytes the most that buffers shared with other ranks took
 * @param kernelCompilations     kernels compiled since it was opened
 * @param fallbacks              since it was opened
 */
public record BackendReport(SortedMap<String, String> facts, List<Path> libraryFiles, long peakDeviceBytes, long peakCommunicationBytes, long kernelCompilations, List<Fallback> fallbacks) {
    /** Of a backend that has nothing to say. */
    public static final BackendReport NONE = ofHost(Collections.emptySortedMap(), List.of());

    public BackendReport {
        facts = Collections.unmodifiableSortedMap(new TreeMap<>(facts));
        libraryFiles = List.copyOf(libraryFiles);
        fallbacks = List.copyOf(fallbacks);
    }

    /** Of a backend that computes on the host with code that is there already. */
    public static BackendReport ofHost(SortedMap<String, String> facts, List<Path> libraryFiles) {
        return new BackendReport(facts, libraryFiles, 0, 0, 0, List.of());
    }
}
