package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the little-endian fields of a GGUF header one behind the other; every length is checked against the file before it is used. */
final class GgufCursor {
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Path file;
    private final MemorySegment bytes;
    private long at;

    /** @param bytes the whole file */
    GgufCursor(Path file, MemorySegment bytes) {
        this.file = file;
        this.bytes = bytes;
    }

    /** Where the next field lies. */
    long position() {
        return at;
    }

    /** Bytes from here to the end of the file. */
    long remaining() {
        return bytes.byteSize() - at;
    }

    byte int8(String what) {
        return bytes.get(ValueLayout.JAVA_BYTE, take(1, what));
    }

    int int32(String what) {
        return bytes.get(I32, take(Integer.BYTES, what));
    }

    long int64(String what) {
        return bytes.get(I64, take(Long.BYTES, what));
    }

    /** An unsigned number of things of which each takes at least {@code each} bytes of what is left. */
    long count(String what, long each) {
        long n = int64(what);
        if (n < 0 || n > remaining() / each) {
            throw bad(what + " is " + Long.toUnsignedString(n) + ", expected at most " + remaining() / each + ", what the rest of the file can hold");
        }
        return n;
    }

    /** UTF-8 text behind its length. @param longest in bytes; more is refused */
    String text(String what, int longest) {
        return textUpTo(what, longest).orElseThrow(() -> bad(what + " has more than " + longest + " bytes"));
    }

    /** UTF-8 text behind its length; empty, and skipped, when it has more than {@code longest} bytes. */
    Optional<String> textUpTo(String what, int longest) {
        long length = count("the length of " + what, 1);
        if (length > longest) {
            skip(length, what);
            return Optional.empty();
        }
        byte[] utf8 = bytes.asSlice(take(length, what), length).toArray(ValueLayout.JAVA_BYTE);
        try {
            return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString());
        } catch (CharacterCodingException e) {
            throw new BadWeightsException(file + ": " + what + " is not UTF-8 text; not a GGUF file, or damaged: fetch it again", e);
        }
    }

    void skip(long count, String what) {
        take(count, what);
    }

    BadWeightsException bad(String what) {
        return new BadWeightsException(file + ": " + what + "; not a GGUF file that can be read, or damaged: fetch it again");
    }

    private long take(long count, String what) {
        if (count < 0 || count > remaining()) {
            throw bad("the file ends inside " + what + " (byte " + bytes.byteSize() + ")");
        }
        long here = at;
        at += count;
        return here;
    }
}
