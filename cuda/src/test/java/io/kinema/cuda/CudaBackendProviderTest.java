package io.kinema.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.BackendProvider;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.weights.DType;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CudaBackendProviderTest {
    private static final BackendProvider PROVIDER = ServiceLoader.load(BackendProvider.class).findFirst().orElseThrow();

    @Test
    void servesDevicesWrittenAsCudaWithANumber() {
        assertThat(PROVIDER.serves("cuda:0")).isTrue();
        assertThat(PROVIDER.serves("cuda")).isTrue();
        assertThat(PROVIDER.serves("cuda:")).isFalse();
        assertThat(PROVIDER.serves("cpu")).isFalse();
        assertThat(PROVIDER.devices()).isEqualTo("cuda:N");
    }

    @Test
    void checksOptionsWithoutADevice() {
        assertThatThrownBy(() -> PROVIDER.check("cuda:0", options(Optional.of("fastest"), OptionalInt.empty())))
                .isInstanceOf(IllegalArgumentException.class).hasMessage("attention backend: got 'fastest', expected auto, cudnn, flash or reference");
        assertThatThrownBy(() -> PROVIDER.check("cuda:0", options(Optional.empty(), OptionalInt.of(96))))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("got 96, expected 64, 128");
        PROVIDER.check("cuda:3", options(Optional.of("cudnn"), OptionalInt.of(64)));
    }

    @Test
    void refusesInOneLineWhereThereIsNoDriver() {
        assumeThat(driverFound()).as("a CUDA driver").isFalse();
        assertThatThrownBy(() -> PROVIDER.open("cuda:0", BackendOptions.DEFAULTS)).isInstanceOf(DeviceUnavailableException.class)
                .hasMessageStartingWith("device cuda:0: CUDA driver (libcuda.so.1) not found in ").hasMessageContaining("; install NVIDIA's driver, or set KINEMA_CUDA_HOME")
                .hasMessageEndingWith(", or run with --device cpu").hasMessageNotContaining("\n");
        assertThat(PROVIDER.findings()).anySatisfy(f -> assertThat(f.value()).startsWith("none: CUDA driver")).allSatisfy(f -> assertThat(f.advice()).isEmpty());
    }

    @Test
    @Tag("gpu")
    void movesValuesToTheGpuAndBackAndReplaysWhatItRecorded() {
        assumeThat(driverFound()).as("a CUDA driver, this machine has none").isTrue();
        try (Backend cuda = PROVIDER.open("cuda:0", BackendOptions.DEFAULTS); Workspace ws = cuda.workspace("test")) {
            Tensor x = ws.f32(3, 5);
            cuda.copy(Tensor.ofFloats(new float[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 3, 5), x);
            Tensor half = ws.allocate(DType.BF16, 3, 5);
            cuda.scale(x, 2, half);
            assertThat(host(cuda, half)).containsExactly(2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            try (Backend.Recording twice = cuda.record(() -> cuda.scale(x, 2, x)).orElseThrow()) {
                twice.replay();
                twice.replay();
            }
            assertThat(host(cuda, x)).startsWith(4, 8, 12);
        }
    }

    private static float[] host(Backend cuda, Tensor t) {
        Tensor copy = Tensor.ofFloats(new float[15], 3, 5);
        cuda.copy(t, copy);
        cuda.finish();
        return copy.toFloats();
    }

    private static boolean driverFound() {
        return LibraryFinder.ofEnvironment().find(CudaLibrary.DRIVER).symbols().isPresent();
    }

    private static BackendOptions options(Optional<String> attention, OptionalInt tile) {
        return new BackendOptions(attention, tile, OptionalInt.empty(), OptionalLong.empty());
    }
}
