package io.kinema.engine.bench;

import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.StageTime;
import io.kinema.engine.record.StepRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Times whole warm requests of the bundled model at 256x256 and 8 evaluations, by stage, beside the rate of large matrix
 * products measured in the same run. A program, not a test.
 */
public final class WarmRequestTimings {
    private static final int THREADS = Runtime.getRuntime().availableProcessors();

    private WarmRequestTimings() {
    }

    /** Arguments: runs of each length, then frame counts (default 8 39 124). */
    public static void main(String[] arguments) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        for (String argument : arguments) {
            numbers.add(Integer.valueOf(argument));
        }
        int runs = numbers.isEmpty() ? 8 : numbers.removeFirst();
        double peak = sgemm();
        try (H3Engine engine = H3Engine.open(EngineOptions.defaults())) {
            for (int frames : numbers.isEmpty() ? List.of(39, 124) : numbers) {
                time(engine, frames, runs, peak);
            }
        }
        System.out.printf(Locale.ROOT, "sgemm again: %.1f GFLOP/s on %d threads%n", sgemm() / 1e9, THREADS);
    }

    private static double sgemm() {
        try (CpuBackend backend = CpuBackend.open(THREADS)) {
            double rate = backend.sgemmRate(2);
            System.out.printf(Locale.ROOT, "sgemm: %.1f GFLOP/s on %d threads%n", rate / 1e9, THREADS);
            return rate;
        }
    }

    private static void time(H3Engine engine, int frames, int runs, double peak) throws IOException {
        Path file = Files.createTempFile("warm", ".mp4");
        List<RunRecord> records = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            long start = System.nanoTime();
            Clip clip = engine.generate(GenerateRequest.prompt("A red circle bounces from left to right across a blue background.")
                    .width(256).height(256).frames(frames).steps(8).seed(1).build());
            double made = (System.nanoTime() - start) / 1e9;
            clip.writeMp4(file);
            double written = (System.nanoTime() - start) / 1e9 - made;
            System.out.printf(Locale.ROOT, "%d frames, run %d: %.3f s, MP4 %.3f s%n", frames, i, made, written);
            records.add(clip.record());
        }
        Files.delete(file);
        report(frames, records, peak);
    }

    /** The first request loads and compiles; the second half of the runs counts as warm. */
    private static void report(int frames, List<RunRecord> records, double peak) {
        List<RunRecord> warm = records.subList(records.size() / 2, records.size()).stream()
                .sorted(Comparator.comparingDouble(RunRecord::seconds)).toList();
        RunRecord best = warm.getFirst();
        double steps = best.steps().stream().mapToDouble(StepRecord::seconds).sum();
        System.out.printf(Locale.ROOT, "%d frames warm: best %.3f s, median %.3f s; first request %.3f s%n", frames, best.seconds(),
                warm.get(warm.size() / 2).seconds(), records.getFirst().seconds());
        for (StageTime stage : best.stages()) {
            System.out.printf(Locale.ROOT, "    %-16s %.3f s%n", stage.stage(), stage.seconds());
        }
        System.out.printf(Locale.ROOT, "    steps %.3f s, %.1f useful GFLOP, %.1f GFLOP/s = %.0f%% of sgemm; peak resident %.0f MB%n", steps,
                best.usefulFlops() / 1e9, best.usefulFlops() / steps / 1e9, 100 * best.usefulFlops() / steps / peak,
                best.memory().peakResidentBytes() / 1e6);
    }
}
