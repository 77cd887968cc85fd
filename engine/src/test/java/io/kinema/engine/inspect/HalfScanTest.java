package io.kinema.engine.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HalfScanTest {
    @TempDir
    Path folder;

    @Test
    void countsWhatFp16Loses() {
        float[] some = {1, -65504, 65505, -1e9f, Float.NaN, Float.NEGATIVE_INFINITY, 1e-9f, -2e-8f, 0, 6e-8f};
        HalfScan.Report report = scan(write(MemoryTensors.builder("m").floats("a.weight", some, 2, 5).floats("a.bias", new float[] {1e9f}, 1)), 2);
        assertThat(report.matrices()).singleElement().satisfies(row -> {
            assertThat(row.name()).isEqualTo("a.weight");
            assertThat(row.values()).isEqualTo(10);
            assertThat(row.overflow()).isEqualTo(2);
            assertThat(row.nonFinite()).isEqualTo(2);
            assertThat(row.underflow()).as("half of the smallest subnormal and less").isEqualTo(2);
            assertThat(row.largest()).isEqualTo(1e9f);
            assertThat(row.fits()).isFalse();
        });
    }

    @Test
    void theDistanceIsThatOfOneRoundingWhateverTheThreads() {
        Random random = new Random(3);
        float[] values = new float[3_000 * 700];
        double error = 0;
        double norm = 0;
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
            double difference = (double) Float.float16ToFloat(Float.floatToFloat16(values[i])) - values[i];
            error += difference * difference;
            norm += (double) values[i] * values[i];
        }
        Path file = write(MemoryTensors.builder("m").floats("a.weight", values, 3_000, 700).rounded("b.weight", DType.F16, new float[] {1, 2}, 1, 2));
        HalfScan.Report report = scan(file, 3);
        assertThat(report.matrices().getFirst().relativeL2()).isCloseTo(Math.sqrt(error / norm), within(1e-12));
        assertThat(report.matrices().getLast().relativeL2()).isZero();
        assertThat(report.total().values()).isEqualTo(values.length + 2);
        assertThat(scan(file, 1)).isEqualTo(report);
    }

    private static HalfScan.Report scan(Path file, int threads) {
        return HalfScan.scan(file, threads, name -> { });
    }

    private Path write(MemoryTensors.Builder tensors) {
        Path file = folder.resolve("m.safetensors");
        try (MemoryTensors all = tensors.build()) {
            SafetensorsWriter.write(file, all.names().stream().map(all::get).toList(), Map.of());
        }
        return file;
    }
}
