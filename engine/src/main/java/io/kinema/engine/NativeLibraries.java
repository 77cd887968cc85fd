package io.kinema.engine;

import io.kinema.compute.Backend;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.media.MediaFacts;
import java.util.SortedMap;
import java.util.TreeMap;

/** The native libraries that a clip depends on. */
final class NativeLibraries {
    private NativeLibraries() {
    }

    /** Names and versions. */
    static SortedMap<String, String> of(Backend backend) {
        SortedMap<String, String> libraries = new TreeMap<>();
        libraries.put("ffmpeg", ffmpeg());
        libraries.putAll(backend.libraries());
        if (backend instanceof CpuBackend cpu) {
            libraries.put("openblas", cpu.facts().blasConfig());
        }
        return libraries;
    }

    /** A clip needs FFmpeg only to be written as MP4, so its absence is noted here and reported by that. */
    private static String ffmpeg() {
        try {
            return MediaFacts.read().version();
        } catch (IllegalStateException e) {
            return "unavailable";
        }
    }
}
