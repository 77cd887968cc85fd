package io.kinema.weights;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Builds GGUF files byte by byte, wrong ones too. Used by one thread. */
final class RawGguf {
    private final ByteArrayOutputStream fields = new ByteArrayOutputStream();
    private final List<byte[]> tensors = new ArrayList<>();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private int fieldCount;
    private int version = 3;
    private OptionalLong statedTensors = OptionalLong.empty();
    private OptionalLong statedFields = OptionalLong.empty();
    private int magic = 0x46554747;

    RawGguf magic(int bits) {
        magic = bits;
        return this;
    }

    RawGguf version(int number) {
        version = number;
        return this;
    }

    RawGguf counts(long tensorCount, long fieldsCount) {
        statedTensors = OptionalLong.of(tensorCount);
        statedFields = OptionalLong.of(fieldsCount);
        return this;
    }

    /** A field whose type and value are these bytes. */
    RawGguf field(String key, int type, byte[] value) {
        fields.writeBytes(text(key));
        fields.writeBytes(ints(type));
        fields.writeBytes(value);
        fieldCount++;
        return this;
    }

    RawGguf originalShape(String tensor, int... sizes) {
        ByteBuffer value = buffer(12 + 4 * sizes.length).putInt(5).putLong(sizes.length);
        for (int size : sizes) {
            value.putInt(size);
        }
        return field("comfy.gguf.orig_shape." + tensor, 9, value.array());
    }

    /** A tensor of these bytes where the next one belongs. @param sizes outermost first */
    RawGguf tensor(String name, int type, byte[] bytes, long... sizes) {
        while (data.size() % 32 != 0) {
            data.write(0);
        }
        return at(data.size(), name, type, bytes, sizes);
    }

    /** The same, but the header says that it begins at {@code offset}. */
    RawGguf at(long offset, String name, int type, byte[] bytes, long... sizes) {
        byte[] title = text(name);
        ByteBuffer info = buffer(title.length + 4 + 8 * sizes.length + 12).put(title).putInt(sizes.length);
        for (int i = sizes.length - 1; i >= 0; i--) {
            info.putLong(sizes[i]);
        }
        tensors.add(info.putInt(type).putLong(offset).array());
        data.writeBytes(bytes);
        return this;
    }

    byte[] bytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(buffer(24).putInt(magic).putInt(version).putLong(statedTensors.orElse(tensors.size()))
                .putLong(statedFields.orElse(fieldCount)).array());
        out.writeBytes(fields.toByteArray());
        tensors.forEach(out::writeBytes);
        while (out.size() % 32 != 0) {
            out.write(0);
        }
        out.writeBytes(data.toByteArray());
        return out.toByteArray();
    }

    static byte[] text(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        return buffer(8 + utf8.length).putLong(utf8.length).put(utf8).array();
    }

    static byte[] ints(int... values) {
        ByteBuffer out = buffer(4 * values.length);
        for (int v : values) {
            out.putInt(v);
        }
        return out.array();
    }

    static byte[] longs(long... values) {
        ByteBuffer out = buffer(8 * values.length);
        for (long v : values) {
            out.putLong(v);
        }
        return out.array();
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }
}
