package io.kinema.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.compute.testing.Values;
import io.kinema.compute.testing.WeightKinds;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Products of any shape, kind of weight and dtype: what is fused gives the bits of the operations one by one. */
class LinearProperties {
    private static final List<Backend> BACKENDS = new ArrayList<>();

    @BeforeContainer
    static void open() {
        BACKENDS.add(new ReferenceBackend());
        BACKENDS.add(CpuBackend.open(2));
    }

    @AfterContainer
    static void close() {
        BACKENDS.forEach(Backend::close);
        BACKENDS.clear();
    }

    enum Operands {
        F32, F16, BF16;

        DType dtype() {
            return DType.valueOf(name());
        }
    }

    @Property(tries = 60)
    void aFusedEpilogueIsTheSequence(@ForAll @IntRange(min = 1, max = 19) int rows, @ForAll @IntRange(min = 1, max = 5) int groups,
                                     @ForAll @IntRange(min = 1, max = 70) int outputs, @ForAll @IntRange(min = 0, max = 3) int deltas,
                                     @ForAll Operands operand, @ForAll Operands stored, @ForAll boolean biased, @ForAll long seed) {
        for (Backend backend : BACKENDS) {
            Values v = new Values(seed);
            Rotation rotation = new Rotation(16);
            Tensor x = v.scaled(DType.F32, 5000, rows, 16L * groups);
            Optional<Tensor> bias = biased ? Optional.of(v.normal(outputs)) : Optional.empty();
            LinearEpilogue after = new LinearEpilogue(bias, deltas(v, rows, outputs, deltas));
            try (Workspace ws = backend.workspace("test")) {
                Operand plain = backend.prepare(x, operand.dtype(), ws);
                Operand rotated = backend.rotate(plain, rotation, ws);
                WeightKinds.all(backend, v.normal(outputs, 16L * groups), Optional.of(rotation)).forEach((name, w) -> {
                    Operand input = w.rotation().isPresent() ? rotated : plain;
                    Tensor fused = Values.empty(stored.dtype(), rows, outputs);
                    backend.linear(input, w, after, fused);
                    assertThat(fused.toFloats()).as("%s on %s", name, backend.name()).isEqualTo(sequence(backend, input, w, after, stored.dtype()).toFloats());
                });
            }
        }
    }

    private static List<ScaledDelta> deltas(Values v, int rows, int outputs, int count) {
        List<ScaledDelta> deltas = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int first = i * outputs / 4;
            int columns = Math.max(1, (outputs - first) / (i + 1));
            deltas.add(new ScaledDelta(v.normal(rows, columns + 3L).slice(1, 1, columns + 1L), i == 1 ? -0.5f : 0.75f, first));
        }
        return deltas;
    }

    /** Product in FP32, then one operation for each delta on its own columns, then the store. */
    private static Tensor sequence(Backend backend, Operand x, Weight w, LinearEpilogue after, DType stored) {
        Tensor y = Values.empty(x.values().size(0), w.outFeatures());
        backend.linear(x, w, after.bias(), y);
        for (ScaledDelta delta : after.deltas()) {
            backend.addScaled(delta.values(), delta.factor(), y.slice(1, delta.column(), delta.column() + (long) delta.values().size(1)));
        }
        Tensor out = Values.empty(stored, y.shape().toArray());
        backend.copy(y, out);
        return out;
    }

    /** The decoded matrix as a dense one of the operand's dtype: decoding on use changes nothing else. */
    @Property(tries = 40)
    void decodingOnUseIsDecodingBefore(@ForAll @IntRange(min = 1, max = 9) int rows, @ForAll @IntRange(min = 1, max = 90) int inputs,
                                       @ForAll @IntRange(min = 1, max = 70) int outputs, @ForAll Operands operand, @ForAll long seed) {
        for (Backend backend : BACKENDS) {
            Values v = new Values(seed);
            Tensor x = v.normal(operand.dtype(), rows, inputs);
            Tensor w = v.normal(outputs, inputs);
            Int8Weight int8 = WeightKinds.int8(w, Optional.empty());
            assertThat(product(backend, x, int8)).as("int8").isEqualTo(product(backend, x, new DenseWeight(decoded(backend, int8, operand.dtype()))));
            assertThat(product(backend, x, WeightKinds.encoded(w, Optional.empty()))).as("encoded")
                    .isEqualTo(product(backend, x, new DenseWeight(WeightKinds.rounded(backend, w, operand.dtype()))));
        }
    }

    private static float[] product(Backend backend, Tensor x, Weight w) {
        Tensor out = Values.empty(x.size(0), w.outFeatures());
        backend.linear(Operand.of(x), w, out);
        return out.toFloats();
    }

    private static Tensor decoded(Backend backend, Int8Weight w, DType dtype) {
        float[] scales = w.scales().toFloats();
        float[] values = new float[w.outFeatures() * w.inFeatures()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) w.values().get(i / w.inFeatures(), i % w.inFeatures()) * scales[i / w.inFeatures()];
        }
        return WeightKinds.rounded(backend, Tensor.ofFloats(values, w.outFeatures(), w.inFeatures()), dtype);
    }

    /** Parts of a weight are parts of the product: outputs and inputs by their sum. */
    @Property(tries = 30)
    void partsOfAWeightMakePartsOfTheProduct(@ForAll @IntRange(min = 1, max = 7) int rows, @ForAll @IntRange(min = 2, max = 5) int groups,
                                             @ForAll @IntRange(min = 2, max = 60) int outputs, @ForAll long seed) {
        int inputs = 16 * groups;
        int output = 1 + (int) Long.remainderUnsigned(seed, outputs - 1);
        int input = 16 * (1 + (int) Long.remainderUnsigned(seed, groups - 1));
        Rotation rotation = new Rotation(16);
        for (Backend backend : BACKENDS) {
            Values v = new Values(seed);
            Tensor x = v.normal(rows, inputs);
            try (Workspace ws = backend.workspace("test")) {
                Operand rotated = backend.rotate(Operand.of(x), rotation, ws);
                WeightKinds.all(backend, v.normal(outputs, inputs), Optional.of(rotation)).forEach((name, w) -> {
                    Operand whole = w.rotation().isPresent() ? rotated : Operand.of(x);
                    Tensor expected = product(backend, whole, w);
                    assertThat(distance(product(backend, whole, w.rows(output, outputs)), expected.slice(1, output, outputs), inputs)).as("outputs of %s", name)
                            .isLessThan(1e-6);
                    Tensor sum = product(backend, columns(whole, 0, input), w.columns(0, input));
                    backend.add(sum, product(backend, columns(whole, input, inputs), w.columns(input, inputs)), sum);
                    assertThat(distance(sum, expected, inputs)).as("inputs of %s", name).isLessThan(2e-6);
                });
            }
        }
    }

    /**
     * Root of the mean squared difference, as a part of what a sum of so many products of normal numbers is like: one of them alone may be as near to
     * zero as it likes, and its rounding is not.
     */
    private static double distance(Tensor got, Tensor expected, int inputs) {
        float[] a = got.toFloats();
        float[] b = expected.toFloats();
        double squares = 0;
        for (int i = 0; i < b.length; i++) {
            squares += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
        }
        return Math.sqrt(squares / b.length / inputs);
    }

    private static Operand columns(Operand x, int from, int to) {
        return new Operand(x.values().slice(1, from, to), x.rowScale(), x.rotation());
    }

    private static Tensor product(Backend backend, Operand x, Weight w) {
        Tensor out = Values.empty(x.values().size(0), w.outFeatures());
        backend.linear(x, w, out);
        return out;
    }

    /** Only the asked slice of a wider output is written. */
    @Property(tries = 30)
    void neighboursOfASliceKeepTheirValues(@ForAll @IntRange(min = 1, max = 9) int rows, @ForAll @IntRange(min = 1, max = 40) int outputs,
                                           @ForAll @IntRange(min = 0, max = 9) int before, @ForAll @IntRange(min = 0, max = 9) int behind,
                                           @ForAll Operands stored, @ForAll long seed) {
        for (Backend backend : BACKENDS) {
            Values v = new Values(seed);
            Tensor x = v.normal(rows, 16);
            Tensor w = v.normal(outputs, 16);
            Tensor wide = Values.empty(stored.dtype(), rows, (long) before + outputs + behind);
            backend.fill(wide, 7f);
            Tensor alone = Values.empty(stored.dtype(), rows, outputs);
            backend.linear(Operand.of(x), WeightKinds.int8(w, Optional.empty()), alone);
            Tensor slice = wide.slice(1, before, (long) before + outputs);
            backend.linear(Operand.of(x), WeightKinds.int8(w, Optional.empty()), slice);
            assertThat(slice.toFloats()).isEqualTo(alone.toFloats());
            assertThat(wide.slice(1, 0, before).toFloats()).isEqualTo(sevens(rows * before));
            assertThat(wide.slice(1, (long) before + outputs, (long) before + outputs + behind).toFloats()).isEqualTo(sevens(rows * behind));
        }
    }

    private static float[] sevens(int n) {
        float[] all = new float[n];
        java.util.Arrays.fill(all, 7f);
        return all;
    }
}
