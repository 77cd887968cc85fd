package io.kinema.fuzz;

import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** A safetensors file: whatever its bytes, it opens and every tensor is readable to its end, or it is refused. */
public final class SafetensorsFuzz {
    private static final Scratch SCRATCH = new Scratch("safetensors");

    private SafetensorsFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Path file = SCRATCH.write("x.safetensors", data);
        Refusals.allow(() -> {
            try (SafetensorsFile opened = SafetensorsFile.open(file)) {
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
