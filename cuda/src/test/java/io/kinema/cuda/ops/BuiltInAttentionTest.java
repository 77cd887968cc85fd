package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.cuda.ops.BuiltInAttention.Images;
import io.kinema.weights.DType;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class BuiltInAttentionTest {
    @Test
    void flashSaysWhatItDoesNotTake() {
        assertThat(refusal(BuiltInAttention.FLASH, Images.HOPPER, DType.BF16, 128)).isEmpty();
        assertThat(refusal(BuiltInAttention.FLASH, Images.HOPPER, DType.F32, 128)).hasValueSatisfying(r -> assertThat(r).contains("FP32 operands"));
        assertThat(refusal(BuiltInAttention.FLASH, Images.VOLTA, DType.BF16, 128)).hasValueSatisfying(r -> assertThat(r).contains("7.0 has FP16 only"));
        assertThat(refusal(BuiltInAttention.FLASH, Images.AMPERE, DType.F16, 20)).hasValueSatisfying(r -> assertThat(r).contains("multiple of 8"));
        assertThat(refusal(BuiltInAttention.FLASH, Images.HOPPER, DType.F16, 64, 0)).hasValueSatisfying(r -> assertThat(r).contains("no keys"));
        assertThat(refusal(BuiltInAttention.FLASH, Images.AMPERE, DType.F16, 136)).hasValueSatisfying(r -> assertThat(r).contains("at most 128"));
    }

    @Test
    void theReferenceTakesAnyTypeUpToItsWidth() {
        for (DType dtype : new DType[] {DType.F32, DType.F16, DType.BF16}) {
            assertThat(refusal(BuiltInAttention.REFERENCE, Images.VOLTA, dtype, 249)).isEmpty();
        }
        assertThat(refusal(BuiltInAttention.REFERENCE, Images.HOPPER, DType.F32, 257)).isPresent();
    }

    @Test
    void theFastestTileIsTheDefaultAndOlderKernelsRefuseTheWidest() {
        assertThat(Images.HOPPER.queryTile(OptionalInt.empty())).isEqualTo(192);
        assertThat(Images.AMPERE.queryTile(OptionalInt.empty())).isEqualTo(128);
        assertThat(Images.HOPPER.queryTile(OptionalInt.of(64))).isEqualTo(64);
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> Images.VOLTA.queryTile(OptionalInt.of(192)))
                .withMessageContaining("expected 64 or 128");
    }

    private static Optional<String> refusal(BuiltInAttention kind, Images images, DType operand, int headDim) {
        return refusal(kind, images, operand, headDim, 20);
    }

    private static Optional<String> refusal(BuiltInAttention kind, Images images, DType operand, int headDim, int keys) {
        AttentionShape shape = new AttentionShape(10, keys, 4, 4, headDim, operand, DType.F32, false);
        return kind.on(null, 128, images, Optional.empty()).refusal(shape);
    }
}
