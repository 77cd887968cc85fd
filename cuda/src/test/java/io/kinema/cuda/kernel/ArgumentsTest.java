package io.kinema.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What kernels read: KERNELS.md states these layouts and launch rules. */
class ArgumentsTest {
    private static final Device CUDA = new Device(Device.Kind.CUDA, 0);

    private static Tensor at(long address, DType dtype, long... dims) {
        long bytes = Shape.of(dims).elements() * dtype.bytes();
        return Tensor.of(dtype, Shape.of(dims), MemorySegment.ofAddress(address).reinterpret(bytes), CUDA);
    }

    @Test
    void rowsAreAnAddressThenTwentyFourBytes() {
        Tensor heads = at(0x1000, DType.F32, 7, 6, 40).slice(2, 8, 24);
        try (Arguments arguments = new Arguments()) {
            arguments.i32(5).rows(RowView.of(heads).orElseThrow()).f32(1.5f);

            assertThat(argument(arguments, 0, 4).get(ValueLayout.JAVA_INT, 0)).isEqualTo(5);
            assertThat(argument(arguments, 1, 8).get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1000 + 8 * 4);
            MemorySegment rows = argument(arguments, 2, 24);
            assertThat(rows.address() % 8).isZero();
            // Seven times six rows of 40 collapse to 42 rows: outer stride 40, no inner axis.
            assertThat(List.of(rows.get(ValueLayout.JAVA_LONG, 0), rows.get(ValueLayout.JAVA_LONG, 8))).containsExactly(40L, 0L);
            assertThat(rows.get(ValueLayout.JAVA_INT, 16)).isEqualTo(1);
            assertThat(argument(arguments, 3, 4).get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(1.5f);
        }
    }

    @Test
    void rowsOfTwoAxesKeepBothStridesAndMoreAxesAreRefused() {
        Tensor x = at(0, DType.BF16, 4, 3, 10).slice(1, 0, 2);
        assertThat(RowView.of(x)).contains(new RowView(0, 30, 10, 2, 8, 10));
        assertThat(RowView.of(at(0, DType.F32, 2, 3, 4, 5).permute(1, 0, 2, 3).slice(2, 0, 2))).isEmpty();
        assertThat(RowView.of(at(0, DType.F32, 4, 6).permute(1, 0))).isEmpty();
        assertThat(RowView.flat(at(0, DType.F32, 4, 6))).isEqualTo(new RowView(0, 0, 0, 1, 1, 24));
    }

    @Test
    void stridedPairsMergeNeighbouringAxesAndFillUpInFront() {
        Tensor from = at(0, DType.F32, 2, 3, 4, 5);
        Tensor to = at(0, DType.F32, 2, 3, 4, 9).slice(3, 0, 5);
        StridedPair pair = StridedPair.of(from, to);

        assertThat(pair.sizes()).containsExactly(24, 5);
        assertThat(pair.a()).containsExactly(5, 1);
        assertThat(pair.b()).containsExactly(9, 1);
        assertThat(pair.packed()).containsExactly(1, 1, 1, 1, 24, 5, 0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 9, 1);
    }

    @Test
    void launchRulesGiveTheGridsOfTheTable() {
        assertThat(Launches.elements(1, 8193)).isEqualTo(new Grid(5, 1, 1, 256, 1));
        assertThat(Launches.elements(100, 33)).isEqualTo(new Grid(1, 4, 1, 8, 32));
        assertThat(Launches.rows(34551, 5376)).isEqualTo(new Grid(34551, 1, 1, 224, 1));
        assertThat(Launches.rows(3, 14336)).isEqualTo(new Grid(3, 1, 1, 256, 1));
        assertThat(Launches.loop(257)).isEqualTo(new Grid(2, 1, 1, 256, 1));
    }

    @Test
    void imagesFitTheGpuOrTheOneAskedFor() {
        assertThat(KernelManifest.choose(90, 90)).hasToString("sm_90a");
        assertThat(KernelManifest.choose(90, 70)).hasToString("sm_70 (PTX)");
        assertThat(KernelManifest.choose(90, 80)).hasToString("sm_80 (PTX)");
        assertThat(KernelManifest.choose(86, 86)).hasToString("sm_80");
        assertThat(KernelManifest.choose(120, 120)).hasToString("sm_80 (PTX)");
        assertThat(KernelManifest.choose(75, 75)).hasToString("sm_70 (PTX)");
        assertThat(KernelManifest.serves(61)).isFalse();
    }

    @Test
    void everyChoiceHasImages() {
        KernelManifest manifest = KernelManifest.read();
        for (int gpu : new int[] {70, 80, 90, 120}) {
            assertThat(manifest.of(KernelManifest.choose(gpu, gpu))).as("compute capability %d", gpu).hasSizeGreaterThan(5)
                    .allSatisfy(image -> assertThat(image.bytes()).isNotEmpty());
        }
    }

    @Test
    void typesThatKernelsDoNotComputeWithAreRefused() {
        assertThatThrownBy(() -> TypeCode.of(DType.I32)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("I32");
        assertThat(TypeCode.raw(DType.I32)).isEqualTo(32);
    }

    private static MemorySegment argument(Arguments arguments, int index, long bytes) {
        return arguments.pointers().getAtIndex(ValueLayout.ADDRESS, index).reinterpret(bytes);
    }

    @Test
    void absentTensorsAreNullPointersOfTypeZero() {
        try (Arguments arguments = new Arguments()) {
            arguments.tensor(Optional.empty()).type(Optional.empty());
            assertThat(argument(arguments, 0, 8).get(ValueLayout.JAVA_LONG, 0)).isZero();
            assertThat(argument(arguments, 1, 4).get(ValueLayout.JAVA_INT, 0)).isZero();
        }
    }
}
