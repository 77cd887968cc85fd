package io.kinema.compute.check;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.compute.testing.Values;
import io.kinema.weights.DType;
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
