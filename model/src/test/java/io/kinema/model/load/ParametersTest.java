package io.kinema.model.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Rotation;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.QuantizedTensors;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A matrix becomes the kind of weight that its dtype and the tensors beside it say. */
class ParametersTest {
    private static final byte[] INTEGERS = {1, -2, 3, -4, 127, -128, 0, 5};

    private static final byte[] ONE_TO_EIGHT_AS_E4M3 = {0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e, 0x50};

    private static void read(TensorSource source, Rounding rounding, Consumer<Parameters> test) {
        try (source; Backend backend = new ReferenceBackend(); Workspace owner = backend.workspace("test")) {
            test.accept(new Parameters(backend, source, owner, "", rounding));
        }
    }

    private static MemoryTensors.Builder int8(String marker, float... scales) {
        byte[] json = marker.getBytes(StandardCharsets.UTF_8);
        return MemoryTensors.builder("test").put("layer.weight", DType.I8, MemorySegment.ofArray(INTEGERS), 2, 4)
                .floats("layer.weight_scale", scales, scales.length).put("layer.comfy_quant", DType.U8, MemorySegment.ofArray(json), json.length);
    }

    @ParameterizedTest
    @EnumSource
    void integersStayIntegersInEveryPlan(Rounding rounding) {
        read(int8("{\"format\":\"int8_tensorwise\",\"convrot\":true,\"convrot_groupsize\":4}", 0.5f, 2).build(), rounding, p -> {
            Weight w = p.matrix("layer.weight", 2, 4);
            assertThat(w).isInstanceOf(Int8Weight.class);
            assertThat(w.rotation()).contains(new Rotation(4));
            assertThat(((Int8Weight) w).values().toFloats()).containsExactly(1, -2, 3, -4, 127, -128, 0, 5);
            assertThat(((Int8Weight) w).scales().toFloats()).containsExactly(0.5f, 2);
        });
        read(int8("{\"format\":\"int8_tensorwise\"}", 0.5f, 2).build(), rounding, p -> assertThat(p.matrix("layer.weight", 2, 4).rotation()).isEmpty());
    }

    /** Stacked halves are cut with their scales. */
    @Test
    void partsOfAStackKeepTheirOwnScales() {
        read(int8("{\"format\":\"int8_tensorwise\"}", 0.5f, 2).build(), Rounding.AS_STORED, p -> {
            List<Weight> parts = p.stackedMatrices("layer.weight", 2, 1, 4);
            assertThat(((Int8Weight) parts.getLast()).values().toFloats()).containsExactly(127, -128, 0, 5);
            assertThat(((Int8Weight) parts.getLast()).scales().toFloats()).containsExactly(2);
        });
    }

    @Test
    void floatsAreRoundedAsThePlanSays() {
        for (Rounding rounding : Rounding.values()) {
            read(MemoryTensors.builder("test").floats("w", new float[] {1.0009766f, 2}, 1, 2).build(), rounding, p -> {
                Weight w = p.matrix("w", 1, 2);
                DType expected = rounding == Rounding.AS_STORED ? DType.F32 : DType.valueOf(rounding.name());
                assertThat(((DenseWeight) w).values().dtype()).isEqualTo(expected);
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void columnMajorStorageIsForFp16Only(Rounding rounding) {
        float[] values = {1, 2, 3, 4, 5, 6};
        try (MemoryTensors source = MemoryTensors.builder("test").floats("w", values, 2, 3).build(); Backend backend = new ReferenceBackend();
             Workspace owner = backend.workspace("test")) {
            DenseWeight w = (DenseWeight) new Parameters(backend, source, owner, "", rounding, MatrixLayout.COLUMN).matrix("w", 2, 3);
            assertThat(w.values().toFloats()).containsExactly(values);
            assertThat(new long[] {w.values().stride(0), w.values().stride(1)}).containsExactly(rounding == Rounding.F16 ? new long[] {1, 2} : new long[] {3, 1});
        }
    }

    /** A loader may bring weights on a thread beside the backend's, so nothing but the loader may be told to. */
    @ParameterizedTest
    @EnumSource
    void everyReadGoesByTheLoader(Rounding rounding) {
        float[] values = {1, 2, 3, 4, 5, 6, 7, 8};
        List<DType> floats = List.of(DType.F64, DType.F32, DType.F16, DType.BF16, DType.F8_E4M3);
        for (MatrixLayout layout : MatrixLayout.values()) {
            MemoryTensors.Builder tensors = int8("{\"format\":\"int8_tensorwise\"}", 0.5f, 2);
            floats.stream().filter(dtype -> dtype.bytes() > 1).forEach(dtype -> tensors.rounded(dtype.name(), dtype, values, 2, 4));
            tensors.put(DType.F8_E4M3.name(), DType.F8_E4M3, MemorySegment.ofArray(ONE_TO_EIGHT_AS_E4M3), 2, 4);
            try (MemoryTensors source = tensors.build(); Backend host = new ReferenceBackend(); Workspace owner = host.workspace("test")) {
                Parameters p = new Parameters(silent(host), source, owner, "", rounding, layout).by(StagingLoader.inOrder(host));
                for (Share share : List.of(Share.WHOLE, new Share(Share.Axis.OUTPUTS, 1, 2), new Share(Share.Axis.INPUTS, 1, 2))) {
                    assertThat(p.matrix("layer.weight", 2, 4, share)).isInstanceOf(Int8Weight.class);
                    for (DType dtype : floats) {
                        Weight named = p.matrix(dtype.name(), 2, 4, share);
                        assertThat(named).isInstanceOf(dtype.bytes() == 1 ? EncodedWeight.class : DenseWeight.class);
                        DenseWeight atHand = (DenseWeight) p.matrix(source.get(dtype.name()), share);
                        assertThat(atHand.values().toFloats()).as("%s, %s, %s", dtype, share, layout).endsWith(8);
                    }
                }
                for (DType dtype : floats) {
                    assertThat(p.stackedMatrices(dtype.name(), 2, 1, 4)).hasSize(2);
                    assertThat(p.kernelMatrix(dtype.name(), 2, 4).outFeatures()).isEqualTo(2);
                    assertThat(p.f32(dtype.name(), 2, 4).toFloats()).containsExactly(values);
                }
                assertThat(p.computed("what", () -> values, 8).toFloats()).containsExactly(values);
            }
        }
    }

    /** A backend that says where it is and does nothing. */
    private static Backend silent(Backend host) {
        return (Backend) Proxy.newProxyInstance(ParametersTest.class.getClassLoader(), new Class<?>[] {Backend.class}, (_, method, _) -> switch (method.getName()) {
            case "device" -> host.device();
            default -> throw new AssertionError("the backend was told to " + method.getName());
        });
    }

    @Test
    void columnMajorStorageRefusesWhatFp16CannotHoldToo() {
        try (MemoryTensors source = MemoryTensors.builder("test").floats("w", new float[] {1, 70000}, 2, 1).build(); Backend backend = new ReferenceBackend();
             Workspace owner = backend.workspace("test")) {
            Parameters p = new Parameters(backend, source, owner, "", Rounding.F16, MatrixLayout.COLUMN);
            assertThatThrownBy(() -> p.matrix("w", 2, 1)).isInstanceOf(BadWeightsException.class).hasMessageContaining("tensor w element 1 is 70000.0");
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {65520, -1e6f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void fp16RefusesWhatItCannotHoldByName(float value) {
        for (DType stored : List.of(DType.F32, DType.BF16)) {
            Consumer<Parameters> refused = p -> assertThatThrownBy(() -> p.matrix("block.weight", 2, 2)).isInstanceOf(BadWeightsException.class)
                    .hasMessageContaining("tensor block.weight element 2 is").hasMessageContaining("expected a finite value within +-65504");
            read(MemoryTensors.builder("test").rounded("block.weight", stored, new float[] {1, 65504, value, 0}, 2, 2).build(), Rounding.F16,
                    stored == DType.F32 ? refused : p -> assertThatThrownBy(() -> p.matrix("block.weight", 2, 2)).hasMessageContaining("block.weight element"));
        }
    }

    /** Every bit pattern of 16 bits, and FP32 values around the limit, deep inside a tensor: refused exactly when FP16 cannot hold it. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"BF16", "F16", "F32"})
    void whatFp16CannotHoldIsFoundWhereverItIs(DType dtype) {
        int at = 8192 + 17;
        float[] values = new float[3 * 8192 - 5];
        for (int bits = 0; bits < 1 << 16; bits += dtype == DType.F32 ? 1 : 97) {
            float value = switch (dtype) {
                case BF16 -> Float.intBitsToFloat(bits << 16);
                case F16 -> Float.float16ToFloat((short) bits);
                default -> Float.intBitsToFloat(0x477fe000 + (bits % 3 - 1) * (bits / 3 % 9));
            };
            if (dtype == DType.F32 && bits > 40) {
                break;
            }
            values[at] = value;
            try (MemoryTensors source = MemoryTensors.builder("test").rounded("w", dtype, values, 1, values.length).build()) {
                boolean fits = Math.abs(value) <= 65504;
                if (fits) {
                    assertThatCode(() -> WeightRange.require(source.get("w"))).doesNotThrowAnyException();
                } else {
                    assertThatThrownBy(() -> WeightRange.require(source.get("w"))).hasMessageContaining("element " + at + " is " + value);
                }
            }
        }
    }

    @Test
    void fp16RefusesScalesThatMakeWeightsBeyondIt() {
        TensorSource source = int8("{\"format\":\"int8_tensorwise\"}", 0.5f, 600).build();
        read(source, Rounding.F16, p -> assertThatThrownBy(() -> p.matrix("layer.weight", 2, 4)).isInstanceOf(BadWeightsException.class)
                .hasMessageContaining("layer.weight_scale element 1 is 600.0, which makes weights of 76800.0"));
        read(int8("{\"format\":\"int8_tensorwise\"}", 0.5f, 600).build(), Rounding.BF16, p -> assertThat(p.matrix("layer.weight", 2, 4).outFeatures()).isEqualTo(2));
    }

    @ParameterizedTest
    @ValueSource(floats = {0, -1, Float.NaN, Float.POSITIVE_INFINITY})
    void scalesAreFiniteAndAboveZero(float scale) {
        read(int8("{\"format\":\"int8_tensorwise\"}", 0.5f, scale).build(), Rounding.AS_STORED, p -> assertThatThrownBy(() -> p.matrix("layer.weight", 2, 4))
                .isInstanceOf(BadWeightsException.class).hasMessageContaining("layer.weight_scale element 1 is " + scale + ", expected a finite scale above 0"));
    }

    @Test
    void quantisedCopiesReadBackWithinHalfAStep() {
        float[] w = {0.1f, -0.7f, 0.3f, 0.25f, 9, -3, 1, 0.01f};
        TensorSource floats = MemoryTensors.builder("floats").floats("layer.weight", w, 2, 4).build();
        read(QuantizedTensors.of(floats, "layer.weight"::equals, Optional.empty()), Rounding.AS_STORED, p -> {
            Int8Weight q = (Int8Weight) p.matrix("layer.weight", 2, 4);
            for (int i = 0; i < w.length; i++) {
                float scale = q.scales().toFloats()[i / 4];
                assertThat(Math.abs(q.values().toFloats()[i] * scale - w[i])).isLessThanOrEqualTo(scale * 0.501f);
            }
        });
        floats.close();
    }
}
