package io.kinema.quality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class QualityGatesTest {
    @ParameterizedTest
    @CsvSource({"VIDEO_LATENTS, 0.01, 0.010000001", "AUDIO_LATENTS, 0.01, 0.010000001", "PSNR, 40, 39.9999", "SSIM, 0.99, 0.98999",
            "SPECTRAL_COSINE, 0.99, 0.98999", "RMS_RATIO, 1.01, 1.0101", "RMS_RATIO, 0.99, 0.9899"})
    void thePublishedLimitsPassOnTheLimitAndFailBeyond(Gate gate, double on, double beyond) {
        QualityGates gates = QualityGates.published();
        assertThat(gates.judge(Map.of(gate, on)).passed()).isTrue();
        assertThat(gates.judge(Map.of(gate, beyond)).passed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(Gate.class)
    void noGatePassesNaN(Gate gate) {
        assertThat(QualityGates.published().judge(Map.of(gate, Double.NaN)).passed()).isFalse();
    }

    @Test
    void nothingMeasuredIsNoPass() {
        Verdict verdict = QualityGates.published().judge(Map.of());
        assertThat(verdict.passed()).isFalse();
        assertThat(verdict.notMeasured()).containsExactlyElementsOf(Gate.OF_CLIPS);
    }

    @Test
    void completeOnlyWhenEveryGateWasMeasured() {
        Map<Gate, Double> all = new EnumMap<>(Map.of(Gate.VIDEO_LATENTS, 0.0, Gate.AUDIO_LATENTS, 0.0, Gate.PSNR, Double.POSITIVE_INFINITY,
                Gate.SSIM, 1.0, Gate.SPECTRAL_COSINE, 1.0, Gate.RMS_RATIO, 1.0));
        assertThat(QualityGates.published().judge(all)).matches(Verdict::complete).matches(Verdict::passed);
        all.remove(Gate.SSIM);
        assertThat(QualityGates.published().judge(all)).matches(v -> !v.complete()).matches(Verdict::passed);
    }

    @Test
    void tighteningNeverRelaxes() {
        QualityGates gates = QualityGates.published().tighten(Gate.PSNR, 50).tighten(Gate.RMS_RATIO, 0.001);
        assertThat(gates.isRelaxed()).isFalse();
        assertThat(gates.judge(Map.of(Gate.PSNR, 45.0)).passed()).isFalse();
        assertThatThrownBy(() -> gates.tighten(Gate.PSNR, 39)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("psnr: got 39, looser than the published 40; a gate is relaxed only explicitly");
        assertThatThrownBy(() -> gates.tighten(Gate.VIDEO_LATENTS, 0.02)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> gates.tighten(Gate.RMS_RATIO, 0.02)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void relaxingMarksTheVerdict() {
        Verdict verdict = QualityGates.published().relax(Gate.SSIM, 0.9).judge(Map.of(Gate.SSIM, 0.95));
        assertThat(verdict.passed()).isTrue();
        assertThat(verdict.relaxed()).isTrue();
        assertThat(verdict.toJson().get("relaxed").booleanValue()).isTrue();
        assertThat(verdict.toJson().at("/gates/0/published_limit").doubleValue()).isEqualTo(0.99);
        assertThat(QualityGates.published().relax(Gate.SSIM, 0.995).isRelaxed()).isFalse();
    }

    @Test
    void noLimitIsNaNOrBelowZero() {
        QualityGates gates = QualityGates.published();
        assertThatThrownBy(() -> gates.relax(Gate.PSNR, Double.NaN)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> gates.relax(Gate.VIDEO_LATENTS, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> gates.relax(Gate.VIDEO_LATENTS, Double.POSITIVE_INFINITY)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void linesReadWell() {
        assertThat(QualityGates.published().judge(Map.of(Gate.PSNR, 41.25, Gate.SSIM, 1 - 1e-9, Gate.RMS_RATIO, 1.02)).lines())
                .extracting(GateLine::text)
                .containsExactly("PASS  psnr  41.25  (>= 40)", "PASS  ssim  1 - 1e-9  (>= 0.99)", "FAIL  rms_ratio  1.02  (0.99 to 1.01)");
    }

    @Test
    void infinityAndNaNAreTextsInJson() {
        var json = QualityGates.published().judge(Map.of(Gate.PSNR, Double.POSITIVE_INFINITY, Gate.SSIM, Double.NaN)).toJson();
        assertThat(json.at("/gates/0/got").textValue()).isEqualTo("inf");
        assertThat(json.at("/gates/1/got").textValue()).isEqualTo("nan");
    }
}
