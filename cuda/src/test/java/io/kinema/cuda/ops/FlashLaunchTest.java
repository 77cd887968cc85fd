package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.driver.StandInDriver;
import io.kinema.cuda.driver.StandInDriver.Values;
import io.kinema.cuda.kernel.KernelManifest;
import io.kinema.cuda.kernel.KernelModules;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.memory.DeviceAllocator;
import io.kinema.cuda.memory.DevicePool;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.weights.DType;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What attention launches, in which order and with which arguments, on a stand-in driver. */
class FlashLaunchTest {
    private static final Device CUDA = new Device(Device.Kind.CUDA, 0);
    private static final int ROWS = 300;
    private static final int HEADS = 4;
    private static final int KV_HEADS = 2;
    private static final int CHANNELS = 64;

    private final List<String> launches = new ArrayList<>();
    private int keys;
    private long narrowed;
    private long largest;

    /** Runs attention over {@code rows} rows; V lies in the second half of a fused [K, V]. @return peak bytes of operations */
    private long attend(DType operand, int rows, String choice) {
        keys = rows;
        StandInDriver driver = new StandInDriver(Map.of("kinema_flash_values", this::values, "kinema_flash_wgmma_bf16_d64_q192", in -> flash("bf16", in),
                "kinema_flash_wgmma_f16_d64_q192", in -> flash("f16", in), "kinema_attention_f32_d64", _ -> launches.add("tiled")), true);
        try (GpuContext context = driver.open(0); GpuStream stream = new GpuStream(context);
             KernelModules modules = KernelModules.load(context, KernelManifest.read(), KernelManifest.choose(90, 90));
             Launcher launcher = new Launcher(modules, stream); DevicePool pool = new DevicePool(CUDA.toString(), allocator(context), 1L << 30);
             DeviceWorkspace scratch = new DeviceWorkspace("operations", CUDA, pool); DeviceWorkspace memory = new DeviceWorkspace("test", CUDA, pool)) {
            OpContext c = new OpContext(CUDA, context.facts(), stream, launcher, scratch);
            Tensor q = memory.allocate(operand, rows, HEADS, CHANNELS);
            Tensor kv = memory.allocate(operand, rows, 2 * KV_HEADS, CHANNELS);
            Tensor out = memory.allocate(operand, rows, HEADS, CHANNELS);
            CudaAttention attention = AttentionSet.of(c, Optional.empty(), choice, OptionalInt.empty(), "sm_90a");
            attention.attention(q, kv.slice(1, 0, KV_HEADS), kv.slice(1, KV_HEADS, 2 * KV_HEADS), 0.125f, false, out);
            launches.addAll(attention.choices().values());
            assertThat(scratch.bytes()).isZero();
            return scratch.peakBytes();
        }
    }

    private static DeviceAllocator allocator(GpuContext context) {
        return new DeviceAllocator() {
            @Override
            public long allocate(long bytes) {
                return context.allocate(bytes);
            }

            @Override
            public void free(long address) {
                context.free(address);
            }
        };
    }

    private void values(Values in) {
        in.i64();
        assertThat(List.of(in.i64(), in.i64())).as("strides of V").containsExactly(2L * KV_HEADS * CHANNELS, (long) CHANNELS);
        narrowed = in.i64();
        largest = in.i64();
        assertThat(List.of(in.i32(), in.i32(), in.i32())).containsExactly(keys, KV_HEADS, CHANNELS);
        int again = in.i32();
        for (int head = 0; head < KV_HEADS; head++) {
            assertThat(StandInDriver.at(largest).getAtIndex(ValueLayout.JAVA_INT, head)).as("largest before launch %d", again).isEqualTo(again * 7);
            StandInDriver.at(largest).setAtIndex(ValueLayout.JAVA_INT, head, 7);
        }
        launches.add("values " + again);
    }

    private void flash(String operand, Values in) {
        for (int i = 0; i < 6; i++) {
            in.i64();
        }
        long v = in.i64();
        List<Long> strides = List.of(in.i64(), in.i64());
        for (int i = 0; i < 3; i++) {
            in.i64();
        }
        for (int i = 0; i < 6; i++) {
            in.i32();
        }
        in.f32();
        in.i32();
        long chosenBy = in.i64();
        launches.add("flash " + operand);
        if (operand.equals("bf16")) {
            assertThat(v).isEqualTo(narrowed);
            assertThat(strides).containsExactly((long) KV_HEADS * CHANNELS, (long) CHANNELS);
            assertThat(chosenBy).isEqualTo(largest);
        } else {
            assertThat(strides).containsExactly(2L * KV_HEADS * CHANNELS, (long) CHANNELS);
            assertThat(chosenBy).isZero();
        }
    }

    @Test
    void valuesOfBf16BecomeFp16InScratch() {
        long peak = attend(DType.BF16, ROWS, "auto");
        assertThat(launches).containsExactly("values 0", "values 1", "flash bf16", "flash");
        assertThat(peak).as("FP16 values and a word for each head, in blocks of 256 bytes").isEqualTo(2L * ROWS * KV_HEADS * CHANNELS + 256);
    }

    @Test
    void valuesOfFp16StayWhereTheyAre() {
        assertThat(attend(DType.F16, ROWS, "flash")).isZero();
        assertThat(launches).containsExactly("flash f16", "flash");
    }

    @Test
    void bf16OverFewKeysIsComputedInFp32() {
        assertThat(attend(DType.BF16, 256, "auto")).isZero();
        assertThat(launches).containsExactly("tiled", "tiled");
    }

    @Test
    void whatSomebodyNamesIsNotReplaced() {
        attend(DType.BF16, 256, "flash");
        assertThat(launches).containsExactly("values 0", "values 1", "flash bf16", "flash");
    }
}
