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
        libraries.put("ffmpeg", MediaFacts.read().version());
        if (backend instanceof CpuBackend cpu) {
            libraries.put("openblas", cpu.facts().blasConfig());
        }
        return libraries;
    }
}
