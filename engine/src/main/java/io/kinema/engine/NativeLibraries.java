package io.kinema.engine;

import io.kinema.compute.Backend;
import io.kinema.engine.record.FileHashes;
import io.kinema.engine.record.NativeLibrary;
import io.kinema.media.MediaFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The native libraries that a clip depends on. */
final class NativeLibraries {
    private static final Path MAPS = Path.of("/proc/self/maps");
    private static final List<Path> SYSTEM = List.of(Path.of("/lib"), Path.of("/lib64"), Path.of("/usr/lib"), Path.of("/usr/lib64"));

    private NativeLibraries() {
    }

    /** Names and versions. */
    static SortedMap<String, String> versions(Backend backend) {
        SortedMap<String, String> libraries = new TreeMap<>();
        libraries.put("ffmpeg", ffmpeg());
        libraries.putAll(backend.libraries());
        return libraries;
    }

    /** The files that this process has loaded, without the system's and the JDK's own, and those that the backend computes with, by name. */
    static List<NativeLibrary> files(Backend backend) {
        SortedMap<String, Path> files = new TreeMap<>();
        mapped(backend.libraries().keySet()).forEach(file -> files.put(String.valueOf(file.getFileName()), file));
        backend.report().libraryFiles().forEach(file -> files.put(String.valueOf(file.getFileName()), file));
        return files.entrySet().stream().filter(e -> Files.isRegularFile(e.getValue()))
                .map(e -> new NativeLibrary(e.getKey(), hash(e.getValue()))).toList();
    }

    /** @param named libraries that count wherever they lie */
    private static List<Path> mapped(Set<String> named) {
        Path jdk = Path.of(System.getProperty("java.home"));
        try (Stream<String> lines = Files.lines(MAPS)) {
            return lines.filter(line -> line.contains(".so") && line.contains("/") && !line.endsWith("(deleted)"))
                    .map(line -> Path.of(line.substring(line.indexOf('/')))).distinct()
                    .filter(file -> !file.startsWith(jdk) && (SYSTEM.stream().noneMatch(file::startsWith)
                            || named.stream().anyMatch(String.valueOf(file.getFileName())::contains))).toList();
        } catch (IOException noSuchView) {
            return List.of();
        }
    }

    private static String hash(Path file) {
        try {
            return FileHashes.ofUser().sha256(file);
        } catch (IOException e) {
            return "unreadable: " + e.getMessage();
        }
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
