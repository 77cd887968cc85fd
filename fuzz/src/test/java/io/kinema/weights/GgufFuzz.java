package io.kinema.weights;

import io.kinema.fuzz.Refusals;
import io.kinema.fuzz.Scratch;
import java.nio.file.Path;

/** Any bytes as a GGUF file: refused, or the file opens and every tensor is listed, and decoded or refused by its type, to its last value. */
public final class GgufFuzz {
    private static final Scratch SCRATCH = new Scratch("gguf");
    /** A small file can state a tensor of many values only where it has their bytes, at least 18 for 128 values. */
    private static final long MOST_VALUES_PER_BYTE = 8;

    private GgufFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Refusals.allow(() -> {
            Path path = SCRATCH.write("x.gguf", data);
            try (GgufFile file = GgufFile.open(path)) {
                for (String name : file.names()) {
                    TensorHeader header = file.header(name).orElseThrow();
                    if (header.shape().elements() > data.length * MOST_VALUES_PER_BYTE) {
                        throw new AssertionError(name + " claims " + header.shape() + " in a file of " + data.length + " bytes");
                    }
                    Refusals.allow(() -> touch(file, header));
                }
            }
        });
    }

    private static void touch(GgufFile file, TensorHeader header) {
        StoredTensor whole = file.get(header.name());
        FloatConversion.toDoubles(whole);
        if (header.shape().rank() == 2 && header.floating()) {
            StoredMatrix matrix = file.matrix(header.name());
            float[] row = new float[Math.toIntExact(matrix.columns())];
            MatrixValues.decode(matrix.rows(matrix.rows() - 1, matrix.rows()), 0, 1, row, 0);
            if (matrix instanceof EncodedMatrix encoded) {
                encoded.bound();
            }
        }
    }
}
