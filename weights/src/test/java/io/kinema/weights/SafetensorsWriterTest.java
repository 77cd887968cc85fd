package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SafetensorsWriterTest {
    @TempDir
    Path folder;

    @Provide
    Arbitrary<SafetensorsWriter.Spec> specs() {
        Arbitrary<Shape> shapes = Arbitraries.longs().between(0, 4).array(long[].class).ofMaxSize(4).map(Shape::of);
        // Any text but unpaired surrogates, which UTF-8 cannot carry.
        Arbitrary<String> names = Arbitraries.strings().excludeChars('\u0000').ofMaxLength(12)
                .filter(s -> s.codePoints().noneMatch(c -> c >= 0xd800 && c < 0xe000) && !s.equals("__metadata__"));
        return Combinators.combine(names, Arbitraries.of(DType.class), shapes).as(SafetensorsWriter.Spec::new);
    }

    @Property(tries = 150)
    void whatIsWrittenIsRead(@ForAll @Size(max = 6) Set<SafetensorsWriter.@From("specs") Spec> drawn, @ForAll long seed) throws IOException {
        Map<String, SafetensorsWriter.Spec> specs = new TreeMap<>();
        drawn.forEach(s -> specs.put(s.name(), s));
        Path dir = Files.createTempDirectory("writer");
        Path file = dir.resolve("x.safetensors");
        Map<String, byte[]> data = new HashMap<>();
        Random random = new Random(seed);
        try (SafetensorsWriter w = SafetensorsWriter.create(file, specs.values(), Map.of("k", "v\n\"ü"))) {
            for (SafetensorsWriter.Spec s : specs.values()) {
                byte[] bytes = new byte[Math.toIntExact(s.shape().elements() * s.dtype().bytes())];
                random.nextBytes(bytes);
                data.put(s.name(), bytes);
                w.put(s.name(), MemorySegment.ofArray(bytes));
            }
            w.commit();
        }
        try (SafetensorsFile f = SafetensorsFile.open(file)) {
            assertThat(f.metadata()).isEqualTo(Map.of("k", "v\n\"ü"));
            assertThat(f.names()).containsExactlyInAnyOrderElementsOf(specs.keySet());
            for (SafetensorsWriter.Spec s : specs.values()) {
                StoredTensor t = f.get(s.name());
                assertThat(t.dtype()).isEqualTo(s.dtype());
                assertThat(t.shape()).isEqualTo(s.shape());
                assertThat(t.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data.get(s.name()));
                assertThat(t.data().address() % s.dtype().bytes()).as("alignment of %s", s).isZero();
            }
        }
        Files.delete(file);
        Files.delete(dir);
    }

    @Test
    void theSameTensorsGiveTheSameBytesInAnyOrder() throws IOException {
        try (MemoryTensors t = MemoryTensors.builder("t").floats("b", new float[] {1, 2}, 2).ints("a", new int[] {3}, 1)
                .rounded("h", DType.BF16, new float[] {1}, 1).build()) {
            Path x = folder.resolve("x.safetensors");
            Path y = folder.resolve("y.safetensors");
            List<StoredTensor> all = t.names().stream().map(t::get).toList();
            SafetensorsWriter.write(x, all, Map.of("p", "1", "q", "2"));
            SafetensorsWriter.write(y, all.reversed(), Map.of("q", "2", "p", "1"));
            assertThat(x).hasSameBinaryContentAs(y);
        }
    }

    @Test
    void aFailureLeavesTheTargetAndNothingElse() throws IOException {
        Path file = Files.writeString(folder.resolve("x.safetensors"), "old");
        List<SafetensorsWriter.Spec> specs = List.of(new SafetensorsWriter.Spec("a", DType.F32, Shape.of(2)));
        try (SafetensorsWriter w = SafetensorsWriter.create(file, specs, Map.of())) {
            assertThatThrownBy(w::commit).isInstanceOf(IllegalStateException.class).hasMessageContaining("one is a");
            assertThatThrownBy(() -> w.put("b", MemorySegment.ofArray(new float[2]))).hasMessageContaining("was not declared");
            assertThatThrownBy(() -> w.put("a", MemorySegment.ofArray(new float[3]))).hasMessageContaining("got 12 bytes, expected 8");
            w.put("a", MemorySegment.ofArray(new float[2]));
            assertThatThrownBy(() -> w.put("a", MemorySegment.ofArray(new float[2]))).hasMessageContaining("was written before");
        }
        assertThat(file).hasContent("old");
        assertThat(Files.list(folder)).containsExactly(file);
        try (SafetensorsWriter w = SafetensorsWriter.create(file, specs, Map.of())) {
            w.put("a", MemorySegment.ofArray(new float[2]));
            w.commit();
        }
        assertThat(Files.list(folder)).containsExactly(file);
        SafetensorsFile.open(file).close();
    }

    @Test
    void refusesTwoOfOneNameAndFoldersThatAreNotThere() {
        SafetensorsWriter.Spec a = new SafetensorsWriter.Spec("a", DType.F32, Shape.of(2));
        assertThatThrownBy(() -> SafetensorsWriter.create(folder.resolve("x"), List.of(a, a), Map.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> SafetensorsWriter.create(folder.resolve("no/x"), List.of(a), Map.of())).isInstanceOf(BadWeightsException.class)
                .hasMessageContaining("cannot be written");
    }
}
