package io.kinema.measure.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.measure.contract.BenchContract;
import io.kinema.measure.telemetry.Sample;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * What a bench measured and whether it passes its limits.
 *
 * @param contract    what was promised
 * @param environment where
 * @param runs        warm-up first
 * @param rejection   why they are no measurement; empty when they are one
 * @param sgemmFlops  FLOP/s of large FP32 matrix products on the same threads right after the runs; empty on other devices than the CPU
 * @param samples     of the machine meanwhile
 */
public record BenchReport(BenchContract contract, Environment environment, List<RunNumbers> runs, Optional<Rejection> rejection,
                          OptionalDouble sgemmFlops, List<Sample> samples) {
    /** Name and version of the JSON form. */
    public static final String SCHEMA = "kinema.bench-report/1";

    public BenchReport {
        runs = List.copyOf(runs);
        samples = List.copyOf(samples);
    }

    /**
     * One request's numbers.
     *
     * @param warmUp         not measured
     * @param latencySeconds from the request to the finished file
     * @param denoiseSeconds the slowest rank's complete denoising
     * @param usefulFlops    of each rank
     * @param hostBytes      the process's peak of resident memory
     * @param deviceBytes    each rank's peak of device memory
     */
    public record RunNumbers(boolean warmUp, double latencySeconds, double denoiseSeconds, List<Long> usefulFlops, long hostBytes,
                                  List<Long> deviceBytes) {
        public RunNumbers {
            usefulFlops = List.copyOf(usefulFlops);
            deviceBytes = List.copyOf(deviceBytes);
        }

        static RunNumbers of(MeasuredRun run) {
            return new RunNumbers(run.role() == MeasuredRun.Role.WARM_UP, run.latencySeconds(), run.denoiseSeconds(),
                    run.ranks().stream().map(MeasuredRun.Rank::usefulFlops).toList(), run.hostBytes(),
                    run.ranks().stream().map(MeasuredRun.Rank::deviceBytes).toList());
        }

        /** A rank's useful operations a second over the slowest rank's denoising, in 10^12. */
        public double tflops(int rank) {
            return usefulFlops.get(rank) / denoiseSeconds / 1e12;
        }
    }

    /** The measured requests. */
    public List<RunNumbers> measured() {
        return runs.stream().filter(run -> !run.warmUp()).toList();
    }

    /** Median rate of every rank. */
    public List<Double> medianTflops() {
        int ranks = measured().stream().mapToInt(run -> run.usefulFlops().size()).min().orElse(0);
        return IntStream.range(0, ranks).mapToObj(rank -> median(measured().stream().mapToDouble(run -> run.tflops(rank)))).toList();
    }

    /** The slowest rank's median rate; NaN without a measurement. */
    public double leastTflops() {
        return medianTflops().stream().mapToDouble(d -> d).min().orElse(Double.NaN);
    }

    /** Median of the denoising times. */
    public double medianDenoiseSeconds() {
        return median(measured().stream().mapToDouble(RunNumbers::denoiseSeconds));
    }

    /** Median of the latencies. */
    public double medianLatencySeconds() {
        return median(measured().stream().mapToDouble(RunNumbers::latencySeconds));
    }

    /** Population standard deviation of the denoising times over their mean. */
    public double cv() {
        double[] seconds = measured().stream().mapToDouble(RunNumbers::denoiseSeconds).toArray();
        double mean = Arrays.stream(seconds).average().orElse(Double.NaN);
        double variance = Arrays.stream(seconds).map(s -> (s - mean) * (s - mean)).average().orElse(Double.NaN);
        return Math.sqrt(variance) / mean;
    }

    /** The process's peak of resident memory. */
    public long hostBytes() {
        return runs.stream().mapToLong(RunNumbers::hostBytes).max().orElse(0);
    }

    /** The largest peak of device memory of any rank. */
    public long deviceBytes() {
        return runs.stream().flatMap(run -> run.deviceBytes().stream()).mapToLong(bytes -> bytes).max().orElse(0);
    }

    /** The limits, each with what was measured against it. */
    public List<GateResult> gates() {
        return GateResult.of(this);
    }

    /** A measurement, and within every limit. */
    public boolean passed() {
        return rejection.isEmpty() && gates().stream().allMatch(GateResult::pass);
    }

    /** Mean share of the cores that other processes used; NaN when unknown. */
    public double otherLoad() {
        return samples.stream().mapToDouble(Sample::otherLoad).filter(Double::isFinite).average().orElse(Double.NaN);
    }

    /** The JSON form; a tree of its own. */
    public ObjectNode toJson() {
        return BenchReportJson.of(this);
    }

    static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        if (sorted.length == 0) {
            return Double.NaN;
        }
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
