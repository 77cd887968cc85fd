package io.kinema.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.Test;

class FiniteCheckTest {
    private final FiniteCheck check = new FiniteCheck(new ReferenceBackend(), "step 3 of 8");

    @Test
    void namesStepBlockAndPlace() {
        Tensor bad = Tensor.ofFloats(new float[] {0, 1, 2, Float.NEGATIVE_INFINITY, 4, 5}, 3, 2);
        assertThatThrownBy(() -> check.stage("block7", bad)).isInstanceOf(NonFiniteException.class)
                .hasMessageStartingWith("step 3 of 8, block7: row 1, channel 1 is -Infinity").hasMessageNotContaining("\n");
    }

    @Test
    void looksAtWholeBlocksOnly() {
        assertThat(check.wants("block12")).isTrue();
        assertThat(check.wants("block12_attn")).isFalse();
        assertThat(check.wants("refiner_block0")).isFalse();
        assertThatCode(() -> check.stage("block0_attn", Tensor.ofFloats(new float[] {Float.NaN}, 1, 1))).doesNotThrowAnyException();
        assertThatCode(() -> check.stage("block0", Tensor.ofFloats(new float[] {Float.MAX_VALUE}, 1, 1))).doesNotThrowAnyException();
    }
}
