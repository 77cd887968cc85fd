package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsFileTest {
    @TempDir
    Path folder;

    @Test
    void readsTensorsMetadataAndOrder() throws IOException {
        Path file = folder.resolve("a \"b\" 中文.safetensors");
        byte[] bytes = RawSafetensors.bytes("""
                {"__metadata__":{"format":"pt"},"late":{"dtype":"U8","shape":[],"data_offsets":[8,9]},\
                "first":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"none":{"dtype":"I64","shape":[0,5],"data_offsets":[9,9]}}   """, 9);
        bytes[bytes.length - 1] = 42;
        Files.write(file, bytes);
        try (SafetensorsFile f = SafetensorsFile.open(file)) {
            assertThat(f.names()).containsExactly("first", "late", "none");
            assertThat(f.metadata()).isEqualTo(Map.of("format", "pt"));
            assertThat(f.get("late").data().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 42);
            assertThat(f.get("late").shape()).isEqualTo(Shape.of());
            assertThat(f.get("first").shape()).isEqualTo(Shape.of(1, 2));
            assertThat(f.get("none").data().byteSize()).isZero();
            assertThat(f.find("other")).isEmpty();
        }
    }

    /** Field report 23: a header with an absurd length made the JVM allocate it. */
    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 1L << 40, Long.MIN_VALUE, 60, 100_000_001})
    void report23RefusesHeaderLengthsBeforeAllocating(long length) throws IOException {
        Path file = folder.resolve("x.safetensors");
        Files.write(file, RawSafetensors.bytes(length, "{}", 40));
        assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(BadWeightsException.class)
                .hasMessageContainingAll(file.toString(), Long.toUnsignedString(length), "expected 1 to 42").hasMessageNotContaining("\n");
    }

    @Test
    void report23RefusesAHeaderOverTheFormatsLimitEvenWhenTheFileIsLarge() throws IOException {
        Path file = folder.resolve("x.safetensors");
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(RawSafetensors.bytes(100_000_001, "{}", 0)));
            channel.write(ByteBuffer.wrap(new byte[1]), 200_000_000);
        }
        assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(BadWeightsException.class).hasMessageContaining("expected 1 to 100000000");
    }

    static Stream<Arguments> brokenHeaders() {
        String ok = "'dtype':'F32','shape':[2],'data_offsets':[0,8]";
        return Stream.of(
                Arguments.of("{'a':{" + ok + "},'b':{'dtype':'F32','shape':[2],'data_offsets':[4,12]}}", "tensor b: data begins at byte 4, expected 8 (it overlaps"),
                Arguments.of("{'a':{" + ok + "},'b':{'dtype':'F32','shape':[1],'data_offsets':[12,16]}}", "tensor b: data begins at byte 12, expected 8 (a hole"),
                Arguments.of("{'a':{'dtype':'F32','shape':[2],'data_offsets':[8,16]}}", "tensor a: data begins at byte 8, expected 0"),
                Arguments.of("{'a':{" + ok + "}}", "the tensors end at byte 8 of the data, but the file holds 16"),
                Arguments.of("{'a':{'dtype':'F32','shape':[5],'data_offsets':[0,20]}}", "tensor a: data ends at byte 20 but the file holds 16"),
                Arguments.of("{'a':{'dtype':'F32','shape':[3],'data_offsets':[0,16]}}", "span 16 bytes, expected 12 for F32[3]"),
                Arguments.of("{'a':{'dtype':'F4','shape':[4],'data_offsets':[0,16]}}", "tensor a: got dtype F4, expected one of [F64, F32"),
                Arguments.of("{'a':{'dtype':7,'shape':[4],'data_offsets':[0,16]}}", "got dtype 7"),
                Arguments.of("{'a':{'dtype':'I8','shape':[-16],'data_offsets':[0,16]}}", "shape holds -16, expected integers from 0"),
                Arguments.of("{'a':{'dtype':'I8','shape':[-4,-4],'data_offsets':[0,16]}}", "shape holds -4"),
                Arguments.of("{'a':{'dtype':'I8','shape':[16.0],'data_offsets':[0,16]}}", "shape holds 16.0"),
                Arguments.of("{'a':{'dtype':'I8','shape':[18446744073709551632],'data_offsets':[0,16]}}", "shape holds 18446744073709551632"),
                Arguments.of("{'a':{'dtype':'I8','shape':'16','data_offsets':[0,16]}}", "shape is 16, expected a list"),
                Arguments.of("{'a':{'dtype':'I8','shape':[2147483648],'data_offsets':[0,16]}}", "[2147483648] has more than 2147483647 elements"),
                Arguments.of("{'a':{'dtype':'I8','shape':[4294967296,4294967296],'data_offsets':[0,16]}}", "has more than 2147483647 elements"),
                Arguments.of("{'a':{'dtype':'I8','shape':[16],'data_offsets':[16,0]}}", "data_offsets are [16, 0]"),
                Arguments.of("{'a':{'dtype':'I8','shape':[16],'data_offsets':[0,8,16]}}", "data_offsets has more than 2 numbers"),
                Arguments.of("{'a':{'dtype':'I8','shape':[16],'data_offsets':[0]}}", "data_offsets are [0]"),
                Arguments.of("{'a':{'dtype':'I8','shape':[16],'data_offsets':[-16,0]}}", "data_offsets holds -16"),
                Arguments.of("{'a':{'dtype':'I8','shape':[16]}}", "gives no data_offsets"),
                Arguments.of("{'a':{'dtype':'I8','data_offsets':[0,16]}}", "gives no shape"),
                Arguments.of("{'a':{'shape':[16],'data_offsets':[0,16]}}", "gives no dtype"),
                Arguments.of("{'a':{" + ok + "},'a':{'dtype':'F32','shape':[2],'data_offsets':[8,16]}}", "tensor a: the name appears twice"),
                Arguments.of("{'a':{" + ok + "},'\\u0061':{'dtype':'F32','shape':[2],'data_offsets':[8,16]}}", "tensor a: the name appears twice"),
                Arguments.of("{'a':{" + ok + ",'shape':[2]}}", "tensor a: the key shape appears twice"),
                Arguments.of("{'__metadata__':{'k':'1','k':'2'}}", "the key appears twice"),
                Arguments.of("{'__metadata__':{'k':1}}", "__metadata__ k: got 1, expected a string"),
                Arguments.of("{'__metadata__':[]}", "__metadata__: got [, expected an object"),
                Arguments.of("{'a':[1]}", "tensor a: got [, expected an object"),
                Arguments.of("{'a':{'x':" + "[".repeat(50) + "]".repeat(50) + "," + ok + "}}", "nesting depth"),
                Arguments.of("{'a':{" + ok + "}} {}", "more text after the header"),
                Arguments.of("{'a':{" + ok, "not valid JSON"),
                Arguments.of("[1]", "does not start with '{'"),
                Arguments.of("{'a\nb\u001b[31m':[1]}", "not valid JSON"));
    }

    /** Each rule of the header with a part of its message. */
    @ParameterizedTest
    @MethodSource("brokenHeaders")
    void refusesBrokenHeaders(String header, String message) throws IOException {
        Path file = RawSafetensors.write(folder.resolve("x.safetensors"), header.replace('\'', '"'), 16);
        assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(BadWeightsException.class)
                .hasMessageStartingWith(file + ": ").hasMessageContaining(message).hasMessageNotContaining("\n");
    }

    @Test
    void refusesTextThatIsNotUtf8AndControlCharactersInNames() throws IOException {
        byte[] bytes = RawSafetensors.bytes("{\"\u00e9\":[1]}", 0);
        bytes[10] = (byte) 0xff;
        Path file = Files.write(folder.resolve("x.safetensors"), bytes);
        assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(BadWeightsException.class).hasMessageContaining("UTF-8");
        Path escape = RawSafetensors.write(folder.resolve("y.safetensors"), "{\"a\\u001b\\nb\":[1]}", 0);
        assertThatThrownBy(() -> SafetensorsFile.open(escape)).hasMessageContaining("tensor a??b").hasMessageNotContaining("\u001b");
    }

    /** Field report 15: half-downloaded weights gave noise. */
    @Test
    void report15RefusesUnfinishedAndShortFiles() throws IOException {
        Path whole = RawSafetensors.pair(folder.resolve("model.safetensors"), "a");
        byte[] bytes = Files.readAllBytes(whole);
        for (int length = 0; length < bytes.length; length++) {
            Path cut = Files.write(folder.resolve("cut.safetensors"), Arrays.copyOf(bytes, length));
            assertThatThrownBy(() -> SafetensorsFile.open(cut)).as("cut to %d bytes", length)
                    .isInstanceOf(BadWeightsException.class).hasMessageContaining(cut.toString());
        }
        Path part = Files.move(whole, folder.resolve("model.safetensors.incomplete"));
        assertThatThrownBy(() -> SafetensorsFile.open(part)).hasMessageContaining("unfinished download");
        assertThatThrownBy(() -> SafetensorsFile.open(whole)).hasMessageContaining(part.toString()).hasMessageContaining("unfinished download");
    }

    @Test
    void refusesAbsentFilesAndFolders() {
        assertThatThrownBy(() -> SafetensorsFile.open(folder.resolve("no.safetensors"))).isInstanceOf(BadWeightsException.class).hasMessageContaining("no such file");
        assertThatThrownBy(() -> SafetensorsFile.open(folder)).isInstanceOf(BadWeightsException.class).hasMessageContaining("got a folder, expected a plain file");
    }

    @Test
    void useAfterCloseIsAnExceptionNotACrash() throws IOException {
        SafetensorsFile f = SafetensorsFile.open(RawSafetensors.pair(folder.resolve("x.safetensors"), "a"));
        MemorySegment data = f.get("a").data();
        assertThat(data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4)).isZero();
        f.close();
        assertThatCode(f::close).doesNotThrowAnyException();
        assertThatThrownBy(() -> data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> f.get("a")).isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
    }

    @Test
    void viewsAreReadOnly() throws IOException {
        try (SafetensorsFile f = SafetensorsFile.open(RawSafetensors.pair(folder.resolve("x.safetensors"), "a"))) {
            assertThat(f.get("a").data().isReadOnly()).isTrue();
        }
    }

    @Test
    void aMissingTensorIsNamedWithItsNeighbours() throws IOException {
        try (SafetensorsFile f = SafetensorsFile.open(RawSafetensors.pair(folder.resolve("x.safetensors"), "blocks.0.norm1.weight"))) {
            assertThatThrownBy(() -> f.get("blocks.0.norm.weight")).isInstanceOf(BadWeightsException.class)
                    .hasMessageContainingAll("x.safetensors", "no tensor blocks.0.norm.weight", "closest names are blocks.0.norm1.weight");
        }
    }
}
