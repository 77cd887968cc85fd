package io.kinema.quality;

/**
 * One gate's outcome.
 *
 * @param gate  which
 * @param got   the measured number; may be infinite (a PSNR of equal frames), or NaN, which fails
 * @param limit the limit in force
 * @param pass  whether {@code got} passes {@code limit}
 */
public record GateLine(Gate gate, double got, double limit, boolean pass) {
    /** {@code PASS  psnr  41.2  (>= 40)}. */
    public String text() {
        return (pass ? "PASS  " : "FAIL  ") + gate.label() + "  " + shown() + "  (" + gate.describe(limit) + ")";
    }

    /** {@link #got} for people. */
    public String shown() {
        return switch (gate) {
            case SSIM, SPECTRAL_COSINE, RMS_RATIO -> Numbers.nearOne(got);
            case VIDEO_LATENTS, AUDIO_LATENTS, PSNR, TENSORS, BITWISE -> Numbers.plain(got);
        };
    }
}
