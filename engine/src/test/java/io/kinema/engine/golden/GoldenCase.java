package io.kinema.engine.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.weights.DType;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Owns the open tensor files of one golden case until it is closed. */
public final class GoldenCase implements AutoCloseable {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Path folder;
    private final JsonNode json;
    private final Map<String, SafetensorsFile> files = new HashMap<>();

    private GoldenCase(Path folder) {
        this.folder = folder;
        try {
            json = new ObjectMapper().readTree(folder.resolve("case.json").toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A case of the subset in the repository. */
    public static GoldenCase open(String name) {
        return new GoldenCase(subset().resolve(name));
    }

    /** A case of the full set, or empty with a line on the console when it is not on this machine. */
    public static Optional<GoldenCase> openFull(String name) {
        return full().map(f -> new GoldenCase(f.resolve(name)));
    }

    /** The golden subset of the repository. */
    public static Path subset() {
        return root().resolve("testdata/goldens");
    }

    /** The repository root. */
    public static Path root() {
        return Path.of(System.getProperty("kinema.root"));
    }

    /** The full set: $KINEMA_GOLDENS, else ../shared/goldens beside the repository. */
    public static Optional<Path> full() {
        String named = System.getenv("KINEMA_GOLDENS");
        Path folder = named == null ? root().resolveSibling("shared").resolve("goldens") : Path.of(named);
        if (Files.isRegularFile(folder.resolve("manifest.json"))) {
            return Optional.of(folder);
        }
        System.out.println("full goldens absent at " + folder + "; set KINEMA_GOLDENS to check them too");
        return Optional.empty();
    }

    public JsonNode json() {
        return json;
    }

    public Path folder() {
        return folder;
    }

    /** The checks with this op. */
    public List<JsonNode> checks(String op) {
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode check : json.path("checks")) {
            if (check.path("op").asText().equals(op)) {
                found.add(check);
            }
        }
        return found;
    }

    /** {@code file#tensor} as floats. */
    public float[] floats(String at) {
        return tensor(at, DType.F32).data().toArray(F32);
    }

    /** {@code file#tensor} as doubles. */
    public double[] doubles(String at) {
        return tensor(at, DType.F64).data().toArray(F64);
    }

    /** {@code file#tensor} as longs. */
    public long[] longs(String at) {
        return tensor(at, DType.I64).data().toArray(I64);
    }

    /** {@code file#tensor} as unsigned bytes. */
    public byte[] bytes(String at) {
        return tensor(at, DType.U8).data().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Sizes of {@code file#tensor}. */
    public long[] shape(String at) {
        return stored(at).shape().toArray();
    }

    private StoredTensor tensor(String at, DType dtype) {
        StoredTensor tensor = stored(at);
        if (tensor.dtype() != dtype) {
            throw new IllegalArgumentException(at + " is " + tensor.dtype() + ", asked for " + dtype);
        }
        return tensor;
    }

    private StoredTensor stored(String at) {
        String[] parts = at.split("#");
        return files.computeIfAbsent(parts[0], f -> SafetensorsFile.open(folder.resolve(f))).get(parts[1]);
    }

    @Override
    public void close() {
        files.values().forEach(SafetensorsFile::close);
    }
}
