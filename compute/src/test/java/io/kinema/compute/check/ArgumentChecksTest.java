package io.kinema.compute.check;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.compute.testing.Values;
import io.kinema.compute.testing.WeightKinds;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Messages carry operation, argument, got and expected; overlap is refused where it would be wrong and only there. */
class ArgumentChecksTest {
    private final Backend backend = new ReferenceBackend();
    private final Values v = new Values(1);

    private static void refused(ThrowingCallable op, String message) {
        assertThatThrownBy(op).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    @Test
    void linearNamesTheArgument() {
        refused(() -> backend.linear(Operand.of(v.normal(2, 3)), new DenseWeight(v.normal(5, 4)), v.normal(2, 5)),
                "linear: x got F32[2, 3] on cpu, expected 4 columns");
        refused(() -> backend.linear(Operand.of(v.normal(2, 4)), new DenseWeight(v.normal(5, 4)), v.normal(2, 6)),
                "linear: out got F32[2, 6] on cpu, expected shape [2, 5]");
        refused(() -> backend.linear(Operand.of(v.normal(2, 4)), new DenseWeight(v.normal(5, 4)), Optional.of(v.normal(4)), v.normal(2, 5)),
                "linear: bias got F32[4] on cpu, expected shape [5]");
    }

    @Test
    void rowsAndWeightsMustBeInTheSameCoordinates() {
        Rotation rotation = new Rotation(4);
        DenseWeight plain = new DenseWeight(v.normal(5, 8));
        DenseWeight rotated = new DenseWeight(v.normal(5, 8), Optional.of(rotation));
        Operand rows = Operand.of(v.normal(2, 8));
        refused(() -> backend.linear(rows, rotated, v.normal(2, 5)), "linear: x.rotation got rows not rotated, expected the weight's coordinates, rotated by 4");
        try (Workspace ws = backend.workspace("test")) {
            Operand turned = backend.rotate(rows, rotation, ws);
            assertThatCode(() -> backend.linear(turned, rotated, v.normal(2, 5))).doesNotThrowAnyException();
            refused(() -> backend.linear(turned, plain, v.normal(2, 5)), "linear: x.rotation got rows rotated by 4, expected the weight's coordinates, not rotated");
            refused(() -> backend.rotate(turned, rotation, ws), "rotate: x got");
            refused(() -> backend.rotate(Operand.of(v.normal(2, 6)), rotation, ws), "rotate: x got F32[2, 6] on cpu, expected columns in whole groups of 4");
        }
        refused(() -> new DenseWeight(v.normal(5, 16), Optional.of(rotation)).columns(0, 6), "columns: got [0, 6), expected bounds that are multiples of the rotation's group 4");
        refused(() -> new Rotation(8), "rotation: got groups of 8, expected a power of 4");
        refused(() -> new DenseWeight(v.normal(5, 6), Optional.of(rotation)), "rotation: got 6 columns, expected a multiple of its group 4");
    }

    @Test
    void noInputOfAProductOverlapsItsResult() {
        Tensor all = v.normal(400);
        Tensor out = all.rows(0, 20).reshape(4, 5);
        Operand x = Operand.of(v.normal(4, 8));
        DenseWeight w = new DenseWeight(v.normal(5, 8));
        refused(() -> backend.linear(new Operand(v.normal(4, 8), Optional.of(all.rows(3, 7))), w, out), "linear: x.rowScale got");
        refused(() -> backend.linear(x, new DenseWeight(all.rows(10, 50).reshape(5, 8)), out), "linear: w got");
        Int8Weight int8 = WeightKinds.int8(v.normal(5, 8), Optional.empty());
        refused(() -> backend.linear(x, new Int8Weight(int8.values(), all.rows(0, 5), Optional.empty()), out), "linear: w.scales got");
        refused(() -> backend.linear(x, w, Optional.of(all.rows(0, 5)), out), "linear: bias got");
        refused(() -> backend.linear(x, w, delta(all.rows(19, 39).reshape(4, 5), 0), out), "linear: deltas[0] got");
        assertThatCode(() -> backend.linear(x, w, delta(all.rows(20, 40).reshape(4, 5), 0), out)).doesNotThrowAnyException();
    }

    private static LinearEpilogue delta(Tensor values, int column) {
        return new LinearEpilogue(Optional.empty(), List.of(new ScaledDelta(values, 0.5f, column)));
    }

    @Test
    void deltasStayWithinTheResult() {
        Operand x = Operand.of(v.normal(4, 8));
        DenseWeight w = new DenseWeight(v.normal(5, 8));
        refused(() -> backend.linear(x, w, delta(v.normal(4, 3), 3), v.normal(4, 5)), "linear: deltas[0] got F32[4, 3] on cpu at column 3, expected 4 rows within the 5 columns of out");
        refused(() -> backend.linear(x, w, delta(v.normal(4, 3), -1), v.normal(4, 5)), "at column -1");
        refused(() -> backend.linear(x, w, delta(v.normal(3, 3), 0), v.normal(4, 5)), "expected 4 rows");
        refused(() -> backend.linear(x, w, delta(v.normal(DType.F16, 4, 3), 0), v.normal(4, 5)), "expected F32");
        refused(() -> backend.linear(x, w, new LinearEpilogue(Optional.empty(), List.of(new ScaledDelta(v.normal(4, 5), Float.NaN, 0))), v.normal(4, 5)),
                "linear: deltas[0].factor got NaN, expected a finite number");
    }

    @Test
    void dtypesAndLayoutsAreChecked() {
        refused(() -> backend.silu(v.normal(DType.F64, 3), v.normal(3)), "silu: x got F64[3] on cpu, expected F32, F16 or BF16");
        refused(() -> backend.silu(v.normal(3, 4).permute(1, 0), v.normal(4, 3)), "expected a contiguous last axis");
        refused(() -> backend.copy(Tensor.ofInts(new int[2], 2), v.normal(2)), "copy: src got I32[2] on cpu, expected the dtype of dst F32");
    }

    @Test
    void crossFadesNeedContiguousRows() {
        Tensor across = v.normal(3, 4).permute(1, 0);
        Tensor plain = v.normal(4, 3);
        refused(() -> backend.crossFade(across, plain, 0, v.normal(4, 3)), "crossFade: a got F32[4, 3] strides [1, 4] on cpu, expected a contiguous last axis");
        refused(() -> backend.crossFade(plain, across, 0, v.normal(4, 3)), "crossFade: b got F32[4, 3] strides [1, 4] on cpu, expected a contiguous last axis");
        refused(() -> backend.crossFade(plain, plain, 0, across), "crossFade: out got F32[4, 3] strides [1, 4] on cpu, expected a contiguous last axis");
        refused(() -> backend.crossFade(plain, plain, 2, plain), "crossFade: dim got 2, expected an axis of F32[4, 3] on cpu");
        assertThatCode(() -> backend.crossFade(plain.slice(1, 0, 2), v.normal(4, 2), 0, v.normal(4, 2))).doesNotThrowAnyException();
    }

    @Test
    void rowIndicesOutsideTheTableAreNamed() {
        refused(() -> backend.rmsNormModulate(v.normal(3, 4), v.normal(4), 1e-5f,
                new RowModulation(v.normal(2, 4), v.normal(2, 4), Tensor.ofInts(new int[] {0, 2, 1}, 3)), v.normal(3, 4)),
                "rmsNormModulate: rowIndex[1] got 2, expected a row in [0, 2)");
        refused(() -> backend.gatherRows(v.normal(2, 4), Tensor.ofInts(new int[] {-1}, 1), v.normal(1, 4)), "gatherRows: index[0] got -1");
    }

    @Test
    void convolutionsNeedRoom() {
        refused(() -> backend.conv1d(v.normal(1, 1, 3), new Conv1d(v.normal(1, 1, 7), Optional.empty(), 1, 1, 0, 0), v.normal(1, 1, 1)),
                "conv1d: x got F32[1, 1, 3] on cpu, expected a length that reaches the kernel's extent");
    }

    @Test
    void overlapIsRefusedUnlessTheViewsAreTheSame() {
        Tensor all = v.normal(40);
        refused(() -> backend.add(all.rows(0, 20), all.rows(20, 40), all.rows(10, 30)), "add: a got");
        assertThatCode(() -> backend.add(all.rows(0, 20), all.rows(20, 40), all.rows(0, 20))).doesNotThrowAnyException();
        refused(() -> backend.linear(Operand.of(all.reshape(10, 4)), new DenseWeight(v.normal(4, 4)), all.reshape(10, 4)), "linear: x got");
    }

    @Test
    void columnsOfOneMatrixAreApart() {
        Tensor qkv = v.normal(6, 24);
        assertThatCode(() -> backend.copy(qkv.slice(1, 0, 8), qkv.slice(1, 8, 16))).doesNotThrowAnyException();
        refused(() -> backend.copy(qkv.slice(1, 0, 8), qkv.slice(1, 7, 15)), "copy: src got");
        refused(() -> backend.copy(qkv.rows(0, 4), qkv.rows(1, 5)), "copy: src got");
    }
}
