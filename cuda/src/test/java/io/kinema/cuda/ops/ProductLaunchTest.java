package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.driver.StandInDriver;
import io.kinema.cuda.driver.StandInDriver.Values;
import io.kinema.cuda.driver.StandInTensorMap;
import io.kinema.cuda.kernel.KernelManifest;
import io.kinema.cuda.kernel.KernelModules;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.memory.DeviceAllocator;
import io.kinema.cuda.memory.DevicePool;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a product with its residual is told, on a stand-in driver: matrices as they are, in boxes of the kernel's form. */
class ProductLaunchTest {
    private static final Device CUDA = new Device(Device.Kind.CUDA, 0);
    private static final GpuFacts GPU = new GpuFacts(0, 0, "of 132", 9, 0, 132, 50 << 20, 227 << 10, 140L << 30);
    private static final int ROWS = 1000;
    private static final int COLUMNS = 512;
    private static final int DEPTH = 72;
    private static final int FP32 = 7;
    private static final int BF16 = 9;
    /** Bytes of the structure that the kernels are told, and where its last numbers are. */
    private static final int PRODUCT_BYTES = 120;
    private static final int NUMBERS = 80;

    private StandInTensorMap x;
    private StandInTensorMap w;
    private StandInTensorMap out;
    private MemorySegment product = MemorySegment.NULL;

    private void launched(Values in) {
        x = in.map();
        w = in.map();
        out = in.map();
        product = MemorySegment.ofArray(in.next(PRODUCT_BYTES).toArray(ValueLayout.JAVA_BYTE));
        assertThat(in.i64()).as("scales").isZero();
    }

    /** A matrix, rows a stride in bytes apart, of which boxes are copied. */
    private static StandInTensorMap described(int type, long address, long columns, long rows, long stride, long boxColumns, long boxRows) {
        return new StandInTensorMap(address, type, List.of(columns, rows), List.of(stride), List.of(boxColumns, boxRows));
    }

    private int number(int index) {
        return product.get(ValueLayout.JAVA_INT_UNALIGNED, NUMBERS + 4L * index);
    }

    @Test
    void aResidualIsDescribedAsWhatItIs() {
        StandInDriver driver = new StandInDriver(Map.of("kinema_product_bf16_residual", this::launched), true);
        try (GpuContext context = driver.open(0); GpuStream stream = new GpuStream(context);
             KernelModules modules = KernelModules.load(context, KernelManifest.read(), KernelManifest.choose(90, 90));
             Launcher launcher = new Launcher(modules, stream); DevicePool pool = new DevicePool(CUDA.toString(), DeviceAllocator.of(context), 1L << 30);
             DeviceWorkspace memory = new DeviceWorkspace("test", CUDA, pool);
             FusedProducts products = new FusedProducts(new OpContext(CUDA, GPU, stream, launcher, memory), context)) {
            Tensor rows = memory.allocate(DType.BF16, ROWS, DEPTH);
            Tensor weight = memory.allocate(DType.BF16, COLUMNS, DEPTH);
            Tensor gate = memory.f32(1, COLUMNS);
            Tensor residual = memory.f32(ROWS, COLUMNS);
            assertThat(products.residual(Operand.of(rows), new DenseWeight(weight), Optional.empty(), gate, residual)).isTrue();

            ProductForm form = ProductForm.of(ProductForm.Step.RESIDUAL);
            assertThat(x).isEqualTo(described(BF16, rows.data().address(), DEPTH, ROWS, 2 * DEPTH, 64, form.tileRows()));
            assertThat(w).isEqualTo(described(BF16, weight.data().address(), DEPTH, COLUMNS, 2 * DEPTH, 64, form.weightRows()));
            assertThat(out).isEqualTo(described(FP32, residual.data().address(), COLUMNS, ROWS, 4 * COLUMNS, 32, 16));
            assertThat(number(0)).as("rows").isEqualTo(ROWS);
            assertThat(number(1)).as("columns").isEqualTo(COLUMNS);
            assertThat(number(2)).as("depth").isEqualTo(DEPTH);
            assertThat(number(3)).as("FP32").isZero();
            assertThat(number(8)).as("rows of tiles together: six tiles at once are three whole rows of two").isEqualTo(1);
        }
    }
}
