package io.kinema.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Int8Weight;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.testing.Values;
import io.kinema.weights.DType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CpuBackendTest {

    @Test
    void aJvmWithoutTheVectorApiIsToldTheFlag() throws Exception {
        Process java = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", System.getProperty("java.class.path"), OpenOnly.class.getName()).redirectErrorStream(true).start();
        String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(java.waitFor()).as(output).isEqualTo(3);
        assertThat(output.strip()).isEqualTo("the cpu backend needs the Vector API: start java with --add-modules=jdk.incubator.vector");
    }

    /** What the test above starts. */
    static final class OpenOnly {
        public static void main(String[] arguments) {
            try (CpuBackend backend = CpuBackend.open(1)) {
                System.out.println(backend.name());
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
                Runtime.getRuntime().halt(3);
            }
        }
    }

    @Test
    void factsNameTheLibraryAndTheWidth() {
        try (CpuBackend backend = CpuBackend.open(3)) {
            CpuFacts facts = backend.facts();
            assertThat(facts.threads()).isEqualTo(3);
            assertThat(facts.vectorBits()).isIn(64, 128, 256, 512);
            assertThat(facts.blasConfig()).startsWith("OpenBLAS");
            assertThat(facts.blasLibrary()).contains("openblas");
            assertThat(facts.blasCore()).isNotBlank();
        }
    }

    @Test
    void theProductRateIsPlausible() {
        try (CpuBackend backend = CpuBackend.open(1)) {
            assertThat(backend.sgemmRate(0.01)).isBetween(1e8, 1e13);
        }
    }

    /** 16 million integers are 64 MiB as FP32; a product holds a few of their rows at a time, whatever the operands' type. */
    @Test
    void weightsAreDecodedAFewRowsAtATime() {
        Values v = new Values(2);
        Int8Weight w = new Int8Weight(v.integers(4096, 4096), v.uniform(0.001, 0.1, 4096), Optional.empty());
        for (DType operand : List.of(DType.F32, DType.F16, DType.BF16)) {
            try (CpuBackend backend = CpuBackend.open(2)) {
                backend.linear(Operand.of(v.normal(operand, 3, 4096)), w, Values.empty(3, 4096));
                assertThat(backend.ownBytes()).as("%s", operand).isBetween(4L << 20, 5L << 20);
            }
        }
    }

    @Test
    void useAfterCloseIsAnException() {
        CpuBackend backend = CpuBackend.open(2);
        Tensor x = new Values(1).normal(4, 4);
        backend.close();
        backend.close();
        assertThatThrownBy(() -> backend.rmsNorm(x, Optional.empty(), 1e-5f, x)).isInstanceOf(IllegalStateException.class)
                .hasMessage("backend cpu is closed");
        assertThatThrownBy(backend::finish).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void threadsBelowOneAreRefused() {
        assertThatThrownBy(() -> CpuBackend.open(0)).isInstanceOf(IllegalArgumentException.class).hasMessage("threads: got 0, expected at least 1");
    }
}
