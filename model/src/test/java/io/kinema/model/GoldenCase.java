package io.kinema.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** One case of the golden data: owns its tensor files until it is closed. */
public final class GoldenCase implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final JsonNode description;
    private final Map<String, SafetensorsFile> files = new HashMap<>();

    private GoldenCase(Path folder) {
        this.folder = folder;
        this.description = json(folder.resolve("case.json"));
    }

    public static GoldenCase open(Path root, String name) {
        return new GoldenCase(root.resolve(name));
    }

    /** The subset of the golden data that is part of the project. */
    public static Path bundled() {
        return Path.of(System.getProperty("kinema.root")).resolve("testdata/goldens");
    }

    /** The full set, where this machine has it: the folder named by KINEMA_GOLDENS, or {@code ../shared/goldens}. */
    public static Optional<Path> full() {
        Path beside = Path.of(System.getProperty("kinema.root")).resolve("../shared/goldens");
        return Stream.of(Optional.ofNullable(System.getenv("KINEMA_GOLDENS")).filter(name -> !name.isBlank()).map(Path::of), Optional.of(beside))
                .flatMap(Optional::stream).filter(Files::isDirectory).findFirst();
    }

    public static JsonNode json(Path file) {
        try {
            return JSON.readTree(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path weights() {
        return folder.resolve(description.get("weights").asText());
    }

    /** The model check of the case that ran in this precision. */
    public Optional<JsonNode> check(String precision) {
        for (JsonNode check : description.get("checks")) {
            if (check.path("precision").asText().equals(precision)) {
                return Optional.of(check);
            }
        }
        return Optional.empty();
    }

    /** A tensor by its {@code file#tensor} address. */
    public Tensor tensor(String address) {
        String[] parts = address.split("#");
        SafetensorsFile file = files.computeIfAbsent(parts[0], f -> SafetensorsFile.open(folder.resolve(f)));
        StoredTensor stored = file.get(parts[1]);
        return Tensor.of(stored.dtype(), stored.shape(), stored.data(), Device.CPU);
    }

    public Tensor input(JsonNode check, String name) {
        return tensor(check.get("in").get(name).asText());
    }

    /** A float input without its batch axis of one, as FP32 of this shape. */
    public Tensor rows(JsonNode check, String name) {
        Tensor t = input(check, name);
        return Tensor.ofFloats(t.toFloats(), t.size(-2), t.size(-1));
    }

    public int[] ints(JsonNode check, String name) {
        Tensor t = input(check, name);
        int[] out = new int[Math.toIntExact(t.elements())];
        Tensor flat = t.reshape(-1);
        for (int i = 0; i < out.length; i++) {
            out[i] = (int) flat.get(i);
        }
        return out;
    }

    public double[] doubles(JsonNode check, String name) {
        Tensor flat = input(check, name).reshape(-1);
        double[] out = new double[Math.toIntExact(flat.elements())];
        for (int i = 0; i < out.length; i++) {
            out[i] = flat.get(i);
        }
        return out;
    }

    /** Holds {@code got} against the check's expected output by its own limit. */
    public void assertOutput(JsonNode check, String name, Tensor got) {
        JsonNode out = check.get("out").get(name);
        assertThat(out.get("metric").asText()).isEqualTo("rel_l2");
        assertThat(relativeL2(got, tensor(out.get("at").asText()))).as("%s of %s, %s", name, folder.getFileName(), check.get("precision"))
                .isLessThanOrEqualTo(out.get("limit").asDouble());
    }

    /** Relative L2 over all elements, whatever the shapes: batch axes of one do not matter. */
    public static double relativeL2(Tensor got, Tensor expected) {
        assertThat(got.elements()).isEqualTo(expected.elements());
        float[] a = got.toFloats();
        float[] b = expected.dtype() == DType.F32 ? expected.toFloats() : widened(expected);
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < a.length; i++) {
            difference += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
            norm += (double) b[i] * b[i];
        }
        return norm == 0 ? Math.sqrt(difference) : Math.sqrt(difference / norm);
    }

    private static float[] widened(Tensor t) {
        Tensor flat = t.reshape(-1);
        float[] out = new float[Math.toIntExact(flat.elements())];
        for (int i = 0; i < out.length; i++) {
            out[i] = (float) flat.get(i);
        }
        return out;
    }

    /** A tap that measures every stage named by the check against its golden tensor. */
    public StageTap measuring(JsonNode check, Map<String, Double> differences) {
        JsonNode stages = check.path("stages");
        return (name, value) -> {
            if (stages.has(name)) {
                differences.put(name, relativeL2(value, tensor(stages.get(name).asText())));
            }
        };
    }

    @Override
    public void close() {
        files.values().forEach(SafetensorsFile::close);
    }

    @Override
    public String toString() {
        return folder.getParent().getFileName() + "/" + folder.getFileName();
    }
}
