package io.kinema.weights;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes safetensors bytes by hand, so that broken files do not pass through the writer under test. */
final class RawSafetensors {
    private RawSafetensors() {
    }

    static byte[] bytes(long headerLength, String header, int dataBytes) {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(8 + json.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN).putLong(headerLength).put(json).array();
    }

    static byte[] bytes(String header, int dataBytes) {
        return bytes(header.getBytes(StandardCharsets.UTF_8).length, header, dataBytes);
    }

    static Path write(Path file, String header, int dataBytes) throws IOException {
        return Files.write(file, bytes(header, dataBytes));
    }

    /** One F32 tensor of two elements called {@code name}. */
    static Path pair(Path file, String name) throws IOException {
        return write(file, "{\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
    }
}
