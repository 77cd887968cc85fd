package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** The released configs and indexes among the test data. */
final class Released {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root")).resolve("testdata/released");

    private Released() {
    }

    static JsonNode json(String name) {
        Path file = ROOT.resolve(name);
        try (InputStream in = name.endsWith(".gz") ? new GZIPInputStream(Files.newInputStream(file)) : Files.newInputStream(file)) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
