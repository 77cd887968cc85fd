package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever the bytes: the file opens and every tensor is readable to its end, or it is refused with one line. */
class SafetensorsFuzzTest {
    private static final String[] TOKENS = {"-1", "0", "9223372036854775807", "18446744073709551615", "1e999", "null", "{}", "[]", "\"\"", "F32", "\"a\"",
        "data_offsets", "shape", "\\u0000", ",", ":", "[[[[[[[[[[", "__metadata__", "\"dtype\":\"BOOL\",", "2147483648"};

    @TempDir
    Path folder;

    @Test
    void randomBytes() throws IOException {
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            check(bytes, i);
        }
    }

    @Test
    void mutations() throws IOException {
        mutate(1_500, 11);
    }

    @Test
    @Tag("long")
    void manyMutations() throws IOException {
        mutate(300_000, 13);
    }

    private void mutate(int rounds, long seed) throws IOException {
        byte[] good = RawSafetensors.bytes("""
                {"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},\
                "b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]},"c":{"dtype":"U8","shape":[],"data_offsets":[14,15]}}""", 15);
        Random random = new Random(seed);
        int opened = 0;
        for (int i = 0; i < rounds; i++) {
            opened += check(mutated(good, random), i) ? 1 : 0;
        }
        assertThat(opened).as("some mutations are harmless, most are not").isBetween(1, rounds / 2);
    }

    /** One to three edits; every other time the length field is made right again, so that edits reach the JSON's rules. */
    private static byte[] mutated(byte[] good, Random random) {
        byte[] bytes = good;
        for (int edits = 1 + random.nextInt(3); edits > 0; edits--) {
            int at = random.nextInt(bytes.length);
            bytes = switch (random.nextInt(4)) {
                case 0 -> flipped(bytes, at, 1 << random.nextInt(8));
                case 1 -> Arrays.copyOf(bytes, at);
                case 2 -> spliced(bytes, at, TOKENS[random.nextInt(TOKENS.length)].getBytes(StandardCharsets.UTF_8), 0);
                default -> spliced(bytes, at, new byte[0], Math.min(bytes.length - at, 1 + random.nextInt(6)));
            };
            if (bytes.length == 0) {
                return bytes;
            }
        }
        if (random.nextBoolean() && bytes.length > 8 + 15) {
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(bytes.length - 8 - 15);
        }
        return bytes;
    }

    private static byte[] flipped(byte[] bytes, int at, int bit) {
        byte[] out = bytes.clone();
        out[at] ^= (byte) bit;
        return out;
    }

    private static byte[] spliced(byte[] bytes, int at, byte[] insert, int drop) {
        return ByteBuffer.allocate(bytes.length + insert.length - drop)
                .put(bytes, 0, at).put(insert).put(bytes, at + drop, bytes.length - at - drop).array();
    }

    private boolean check(byte[] bytes, int round) throws IOException {
        Path file = Files.write(folder.resolve("x.safetensors"), bytes);
        try (SafetensorsFile f = SafetensorsFile.open(file)) {
            for (String name : f.names()) {
                StoredTensor t = f.get(name);
                for (long i = 0; i < t.data().byteSize(); i++) {
                    t.data().get(ValueLayout.JAVA_BYTE, i);
                }
            }
            return true;
        } catch (BadWeightsException e) {
            assertThat(e.getMessage()).as("round %d", round).startsWith(file.toString()).doesNotContain("\n");
            return false;
        }
    }
}
