package io.kinema.weights;

import io.kinema.fuzz.Refusals;
import io.kinema.fuzz.Scratch;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A safetensors header and, in the first byte of the input, how much data follows it: refused, or the file opens and every
 * tensor is readable to its end. The header is read in memory first, so that a run does not spend its time on files.
 */
public final class SafetensorsFuzz {
    private static final Scratch SCRATCH = new Scratch("safetensors");
    private static final Path NAME = Path.of("x.safetensors");

    private SafetensorsFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0) {
            return;
        }
        int size = data[0] & 0xff;
        byte[] header = Arrays.copyOfRange(data, 1, data.length);
        Refusals.allow(() -> {
            SafetensorsHeader parsed = SafetensorsHeader.parse(header, size, NAME);
            Path file = SCRATCH.write("x.safetensors", ByteBuffer.allocate(Long.BYTES + header.length + size).order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(header.length).put(header).array());
            try (SafetensorsFile opened = SafetensorsFile.open(file)) {
                if (!opened.names().equals(parsed.entries().sequencedKeySet())) {
                    throw new AssertionError("file and header differ: " + opened.names());
                }
                opened.names().forEach(name -> touch(opened.get(name)));
            }
        });
    }

    private static void touch(StoredTensor tensor) {
        long size = tensor.data().byteSize();
        if (size > 0) {
            tensor.data().get(ValueLayout.JAVA_BYTE, 0);
            tensor.data().get(ValueLayout.JAVA_BYTE, size - 1);
        }
    }
}
