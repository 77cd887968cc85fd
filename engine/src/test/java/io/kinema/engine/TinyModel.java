package io.kinema.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The golden cases' tiny random weights as a model that makes short clips, so that a test takes a second. */
final class TinyModel {
    private TinyModel() {
    }

    /** Copies the components into {@code folder}, under an index with the golden cases' canvas rule. */
    static Path in(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(Geometries.TINY)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = folder.resolve(Geometries.TINY.relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        Path index = folder.resolve("model_index.json");
        Files.writeString(index, Files.readString(index)
                .replaceFirst("\\{", "{\"canvas_short_edge\": 64, \"canvas_max_pixels\": 7168, \"reference_image_short_edge\": 64,"));
        return folder;
    }
}
