package io.kinema.measure.contract;

import io.kinema.engine.BadRequestException;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Limits of a bench.
 *
 * @param minTflops      every rank's median rate must be above it, in 10^12 useful operations a second
 * @param maxCv          the denoising times' population standard deviation over their mean is at most this; 0.05 unless a contract is stricter
 * @param maxHostBytes   the process's resident memory at most
 * @param maxDeviceBytes each device's memory at most, communication buffers included
 */
public record BenchGates(OptionalDouble minTflops, double maxCv, OptionalLong maxHostBytes, OptionalLong maxDeviceBytes) {
    /** The published limit of a run that counts as steady. */
    public static final double PUBLISHED_CV = 0.05;
    /** Only that the runs are steady. */
    public static final BenchGates STEADY = new BenchGates(OptionalDouble.empty(), PUBLISHED_CV, OptionalLong.empty(), OptionalLong.empty());

    public BenchGates {
        if (!(maxCv > 0 && maxCv <= PUBLISHED_CV)) {
            throw new BadRequestException("max_cv", "" + maxCv, "expected above 0 and at most the published " + PUBLISHED_CV);
        }
        if (minTflops.isPresent() && !(minTflops.getAsDouble() >= 0 && Double.isFinite(minTflops.getAsDouble()))) {
            throw new BadRequestException("min_tflops", "" + minTflops.getAsDouble(), "expected 0 or more");
        }
    }

    /** These with another lower limit of the rate. */
    public BenchGates withMinTflops(double limit) {
        return new BenchGates(OptionalDouble.of(limit), maxCv, maxHostBytes, maxDeviceBytes);
    }
}
