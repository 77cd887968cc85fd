package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.driver.StandInDriver;
import io.kinema.cuda.driver.StandInDriver.Kernel;
import io.kinema.cuda.driver.StandInDriver.Values;
import io.kinema.cuda.driver.StandInTensorMap;
import io.kinema.cuda.kernel.KernelManifest;
import io.kinema.cuda.kernel.KernelModules;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.memory.DeviceAllocator;
import io.kinema.cuda.memory.DevicePool;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What attention launches, in which order and with which arguments, on a stand-in driver that refuses what the driver does. */
class FlashLaunchTest {
    private static final Device CUDA = new Device(Device.Kind.CUDA, 0);
    private static final int FP16 = 6;
    private static final int BRAIN16 = 9;
    private static final int ROWS = 300;
    private static final int HEADS = 4;
    private static final int KV_HEADS = 2;
    private static final int CHANNELS = 64;

    private final List<String> launches = new ArrayList<>();
    private int keys;
    private long narrowed;
    private long largest;
    private Flash flash;
    private Tensor queries;

    /** A launch of flash attention: where its values are, what chose their powers, and what the copy engine is told of its operands. */
    private record Flash(long v, List<Long> vStrides, long largest, List<Integer> blocks, List<StandInTensorMap> maps) {
        StandInTensorMap q() {
            return maps.get(0);
        }

        StandInTensorMap k() {
            return maps.get(1);
        }

        StandInTensorMap values() {
            return maps.get(2);
        }
    }

    /** Views of attention's operands, made with memory of the device. */
    private interface Operands {
        /** @return q, k, v and out */
        List<Tensor> of(DeviceWorkspace memory);
    }

    /** V lies in the second half of a fused [K, V]. */
    private Operands fused(DType operand, int rows) {
        return memory -> {
            Tensor kv = memory.allocate(operand, rows, 2 * KV_HEADS, CHANNELS);
            return List.of(memory.allocate(operand, rows, HEADS, CHANNELS), kv.slice(1, 0, KV_HEADS), kv.slice(1, KV_HEADS, 2 * KV_HEADS),
                    memory.allocate(operand, rows, HEADS, CHANNELS));
        };
    }

    private static Operands separate(int rows, int keyRows, int heads, int channels) {
        return memory -> List.of(memory.allocate(DType.F16, rows, heads, channels), memory.allocate(DType.F16, keyRows, heads, channels),
                memory.allocate(DType.F16, keyRows, heads, channels), memory.allocate(DType.F16, rows, heads, channels));
    }

    private Map<String, Kernel> kernels() {
        Map<String, Kernel> kernels = new HashMap<>();
        kernels.put("kinema_flash_values", this::values);
        kernels.put("kinema_copy", _ -> launches.add("copy"));
        kernels.put("kinema_attention_f32_d64", _ -> launches.add("tiled"));
        kernels.put("kinema_attention_reference", _ -> launches.add("reference"));
        for (String form : List.of("f16_d64_q192", "bf16_d64_q192", "f16_d64_q64", "f16_d128_q192")) {
            kernels.put("kinema_flash_wgmma_" + form, in -> flash(form, true, in));
        }
        kernels.put("kinema_flash_f16_d64_q128", in -> flash("f16_d64_q128 by warps", false, in));
        return kernels;
    }

    private long attend(Operands operands, String choice) {
        return attend(operands, choice, OptionalInt.empty(), 0.125f);
    }

    /** @return peak bytes of operations */
    private long attend(Operands operands, String choice, OptionalInt tile, float scale) {
        StandInDriver driver = new StandInDriver(kernels(), true);
        try (GpuContext context = driver.open(0); GpuStream stream = new GpuStream(context);
             KernelModules modules = KernelModules.load(context, KernelManifest.read(), KernelManifest.choose(90, 90));
             Launcher launcher = new Launcher(modules, stream); DevicePool pool = new DevicePool(CUDA.toString(), DeviceAllocator.of(context), 1L << 30);
             DeviceWorkspace scratch = new DeviceWorkspace("operations", CUDA, pool); DeviceWorkspace memory = new DeviceWorkspace("test", CUDA, pool)) {
            OpContext c = new OpContext(CUDA, context.facts(), stream, launcher, scratch);
            try (FlashHopper hopper = new FlashHopper(c, context)) {
                List<Tensor> t = operands.of(memory);
                queries = t.get(0);
                keys = t.get(1).size(0);
                CudaAttention attention = AttentionSet.of(c, Optional.empty(), choice, tile, "sm_90a", Optional.of(hopper));
                attention.attention(t.get(0), t.get(1), t.get(2), scale, false, t.get(3));
                launches.addAll(attention.choices().values());
            }
            assertThat(scratch.bytes()).isZero();
            return scratch.peakBytes();
        }
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

    private void flash(String form, boolean wgmma, Values in) {
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
        flash = new Flash(v, strides, chosenBy, in.blocks(), wgmma ? List.of(in.map(), in.map(), in.map()) : List.of());
        launches.add(form);
    }

    @Test
    void valuesOfBf16BecomeFp16InScratch() {
        long peak = attend(fused(DType.BF16, ROWS), "auto");
        assertThat(launches).containsExactly("values 0", "values 1", "bf16_d64_q192", "flash");
        assertThat(peak).as("FP16 values and a word for each head, in blocks of 256 bytes").isEqualTo(2L * ROWS * KV_HEADS * CHANNELS + 256);
        assertThat(flash.v()).isEqualTo(narrowed);
        assertThat(flash.vStrides()).containsExactly((long) KV_HEADS * CHANNELS, (long) CHANNELS);
        assertThat(flash.largest()).isEqualTo(largest);
        assertThat(flash.q().type()).isEqualTo(BRAIN16);
        assertThat(flash.k().type()).isEqualTo(BRAIN16);
        assertThat(flash.values()).isEqualTo(new StandInTensorMap(narrowed, FP16, List.of((long) CHANNELS, (long) KV_HEADS, (long) ROWS),
                List.of(2L * CHANNELS, 2L * KV_HEADS * CHANNELS), List.of(64L, 1L, 128L)));
    }

    @Test
    void valuesOfFp16StayWhereTheyAre() {
        assertThat(attend(fused(DType.F16, ROWS), "flash")).isZero();
        assertThat(launches).containsExactly("f16_d64_q192", "flash");
        assertThat(flash.largest()).isZero();
        assertThat(flash.vStrides()).containsExactly(2L * KV_HEADS * CHANNELS, (long) CHANNELS);
        assertThat(flash.q()).isEqualTo(new StandInTensorMap(queries.data().address(), FP16, List.of((long) CHANNELS, (long) HEADS, (long) ROWS),
                List.of(2L * CHANNELS, 2L * HEADS * CHANNELS), List.of(64L, 1L, 64L)));
        assertThat(flash.values().address()).isEqualTo(flash.v()).isEqualTo(flash.k().address() + 2L * KV_HEADS * CHANNELS);
        assertThat(flash.values().strides()).isEqualTo(flash.k().strides()).containsExactly(2L * CHANNELS, 4L * KV_HEADS * CHANNELS);
    }

    @Test
    void bf16OverFewKeysIsComputedInFp32() {
        assertThat(attend(fused(DType.BF16, 256), "auto")).isZero();
        assertThat(launches).containsExactly("tiled", "tiled");
    }

    @Test
    void whatSomebodyNamesIsNotReplaced() {
        attend(fused(DType.BF16, 256), "flash");
        assertThat(launches).containsExactly("values 0", "values 1", "bf16_d64_q192", "flash");
    }

    @Test
    void aBlockForEveryMultiprocessorButNoneWithoutWork() {
        attend(separate(192 * StandInDriver.PROCESSORS, 8, 3, CHANNELS), "flash");
        assertThat(flash.blocks()).containsExactly(StandInDriver.PROCESSORS, 1, 1);
        attend(separate(193, 8, 3, CHANNELS), "flash");
        assertThat(flash.blocks()).as("two runs of three heads").containsExactly(6, 1, 1);
        attend(separate(193, 8, 3, CHANNELS), "flash", OptionalInt.of(64), 0.125f);
        assertThat(flash.blocks()).as("four runs of three heads").containsExactly(12, 1, 1);
    }

    @Test
    void oneRowAndOneKey() {
        attend(separate(1, 1, 1, CHANNELS), "flash");
        assertThat(launches).containsExactly("f16_d64_q192", "flash");
        assertThat(flash.blocks()).containsExactly(1, 1, 1);
        assertThat(flash.q().sizes()).containsExactly((long) CHANNELS, 1L, 1L);
    }

    @Test
    void channelsThatNoBoxIsFilledByAreWhatIsDescribed() {
        attend(separate(10, 20, 3, 40), "flash");
        assertThat(flash.k()).isEqualTo(new StandInTensorMap(flash.k().address(), FP16, List.of(40L, 3L, 20L), List.of(80L, 240L), List.of(64L, 1L, 128L)));
        attend(separate(10, 20, 3, 72), "flash");
        assertThat(launches).containsExactly("f16_d64_q192", "flash", "f16_d128_q192", "flash");
        assertThat(flash.k()).isEqualTo(new StandInTensorMap(flash.k().address(), FP16, List.of(72L, 3L, 20L), List.of(144L, 432L), List.of(64L, 1L, 80L)));
    }

    @Test
    void rowsHeadsAndOffsetsThatAreNotMultiplesOf16BytesAreCopied() {
        attend(memory -> {
            Tensor rows = memory.allocate(DType.F16, 10, 3 * CHANNELS + 4).slice(1, 0, 3L * CHANNELS).splitLast(3, CHANNELS);
            Tensor heads = memory.allocate(DType.F16, 20, 3, CHANNELS + 4).slice(2, 0, CHANNELS);
            Tensor offset = memory.allocate(DType.F16, 20, 3 * CHANNELS + 8).slice(1, 4, 3L * CHANNELS + 4).splitLast(3, CHANNELS);
            return List.of(rows, heads, offset, memory.allocate(DType.F16, 10, 3, CHANNELS));
        }, "flash");
        assertThat(launches).containsExactly("copy", "copy", "copy", "f16_d64_q192", "flash");
        assertThat(flash.maps()).extracting(StandInTensorMap::strides).containsOnly(List.of(2L * CHANNELS, 6L * CHANNELS));
    }

    /** Views of memory that is not there: nothing reads it. @param rowStride of q, in elements */
    private static Operands apart(long rowStride) {
        return memory -> {
            MemorySegment space = MemorySegment.ofAddress(1L << 44).reinterpret(1L << 44);
            Tensor q = Tensor.of(DType.F16, Shape.of(3, rowStride), space, CUDA).slice(1, 0, 2L * CHANNELS).splitLast(2, CHANNELS);
            List<Tensor> others = separate(3, 20, 2, CHANNELS).of(memory);
            return List.of(q, others.get(1), others.get(2), others.get(3));
        };
    }

    @Test
    void rowsMayBeGibibytesApart() {
        attend(apart(1L << 30), "flash");
        assertThat(launches).containsExactly("f16_d64_q192", "flash");
        assertThat(flash.q().strides()).containsExactly(2L * CHANNELS, 1L << 31);
        attend(apart((1L << 39) - 8), "flash");
        assertThat(flash.q().strides()).containsExactly(2L * CHANNELS, (1L << 40) - 16);
    }

    @Test
    void whatTheCopyEngineCannotBeToldIsReadByWarps() {
        attend(apart(1L << 39), "flash");
        assertThat(launches).containsExactly("f16_d64_q128 by warps", "flash");
        assertThat(flash.blocks()).containsExactly(1, 2, 1);
    }

    @Test
    void theStrideOfTheOnlyRowOrHeadMeansNothing() {
        attend(memory -> {
            List<Tensor> t = separate(1, 20, 1, CHANNELS).of(memory);
            MemorySegment space = MemorySegment.ofAddress(1L << 44).reinterpret(1L << 44);
            Tensor row = Tensor.of(DType.F16, Shape.of(1, 1L << 40), space, CUDA).slice(1, 0, CHANNELS).splitLast(1, CHANNELS);
            return List.of(row, t.get(1), t.get(2), t.get(3));
        }, "flash");
        assertThat(launches).containsExactly("f16_d64_q192", "flash");
        assertThat(flash.q().strides()).containsExactly(2L * CHANNELS, 2L * CHANNELS);
    }

    @Test
    void scoresThatAreNotMadeLargerAreForWarps() {
        for (float scale : new float[] {0, -1, Float.NaN}) {
            launches.clear();
            attend(separate(100, 20, 2, CHANNELS), "flash", OptionalInt.empty(), scale);
            assertThat(launches).as("scale %s", scale).containsExactly("f16_d64_q128 by warps", "flash");
        }
    }

    @Test
    void noKeysAreForTheReferenceOrRefused() {
        attend(separate(10, 0, 2, CHANNELS), "auto");
        assertThat(launches).containsExactly("reference", "reference");
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> attend(separate(10, 0, 2, CHANNELS), "flash"))
                .withMessageContaining("flash refuses no keys, at least one is needed");
    }
}
