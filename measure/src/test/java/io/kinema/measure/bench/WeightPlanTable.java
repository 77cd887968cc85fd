package io.kinema.measure.bench;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.measure.bench.MadeClip.Recipe;
import io.kinema.quality.Gate;
import io.kinema.quality.QualityGates;
import io.kinema.quality.Verdict;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.sound.RmsRatio;
import io.kinema.quality.sound.SpectralCosine;
import io.kinema.quality.tensor.RelativeL2;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The bundled model in every precision plan and weight kind against fp32, the same request and seed: one Markdown table. Each row
 * is made in a process of its own. A program, not a test.
 */
public final class WeightPlanTable {
    private record Row(String name, Recipe recipe) {
    }

    private WeightPlanTable() {
    }

    /** Arguments: frames, picture size, steps (default 39 256 8), then transformer files, each made in fp32 and fp16-fp32res. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int frames = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 39;
        int size = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 256;
        int steps = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 8;
        List<Row> rows = rows(frames, size, steps, List.of(arguments).subList(Math.min(3, arguments.length), arguments.length));
        System.out.printf("%d frames of %dx%d, %d evaluations, seed 1, against the first row.%n%n", frames, size, size, steps);
        System.out.println("| weights | plan | video latents | audio latents | PSNR dB | SSIM | sound cosine | RMS ratio | gates | peak MiB | denoising s | whole s |");
        System.out.println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        MadeClip reference = MadeClip.inOwnProcess(rows.getFirst().recipe());
        print(rows.getFirst(), reference, reference);
        for (Row row : rows.subList(1, rows.size())) {
            print(row, MadeClip.inOwnProcess(row.recipe()), reference);
        }
    }

    private static List<Row> rows(int frames, int size, int steps, List<String> files) {
        List<Row> rows = new ArrayList<>();
        rows.add(new Row("as stored", new Recipe(Precision.FP32, MatrixLayout.ROW, "", frames, size, steps)));
        rows.add(new Row("BF16", new Recipe(Precision.BF16_FP32RES, MatrixLayout.ROW, "", frames, size, steps)));
        rows.add(new Row("FP16 rows", new Recipe(Precision.FP16_FP32RES, MatrixLayout.ROW, "", frames, size, steps)));
        rows.add(new Row("FP16 columns", new Recipe(Precision.FP16_FP32RES, MatrixLayout.COLUMN, "", frames, size, steps)));
        for (String file : files) {
            for (Precision plan : List.of(Precision.FP32, Precision.FP16_FP32RES)) {
                rows.add(new Row(Path.of(file).getFileName().toString(), new Recipe(plan, MatrixLayout.ROW, file, frames, size, steps)));
            }
        }
        return rows;
    }

    private static void print(Row row, MadeClip made, MadeClip reference) {
        Map<Gate, Double> measured = measure(made, reference);
        Verdict verdict = QualityGates.published().judge(measured);
        System.out.printf(Locale.ROOT, "| %s | %s | %.2e | %.2e | %.1f | %.5f | %.6f | %.5f | %s | %.0f | %.2f | %.2f |%n", row.name(),
                row.recipe().precision().label(), measured.get(Gate.VIDEO_LATENTS), measured.get(Gate.AUDIO_LATENTS), measured.get(Gate.PSNR),
                measured.get(Gate.SSIM), measured.get(Gate.SPECTRAL_COSINE), measured.get(Gate.RMS_RATIO),
                verdict.passed() && verdict.complete() ? "pass" : "fail", made.peak() / (double) (1 << 20), made.denoise(), made.seconds());
    }

    private static Map<Gate, Double> measure(MadeClip made, MadeClip reference) {
        FrameComparison pictures = new FrameComparison();
        for (int i = 0; i < reference.frames().size(); i++) {
            pictures.add(made.frames().get(i), reference.frames().get(i));
        }
        Map<Gate, Double> measured = new EnumMap<>(Gate.class);
        measured.put(Gate.VIDEO_LATENTS, RelativeL2.of(made.video(), reference.video()));
        measured.put(Gate.AUDIO_LATENTS, RelativeL2.of(made.audio(), reference.audio()));
        measured.put(Gate.PSNR, pictures.psnr().orElseThrow());
        measured.put(Gate.SSIM, pictures.ssim().orElseThrow());
        measured.put(Gate.SPECTRAL_COSINE, SpectralCosine.of(made.sound(), reference.sound()));
        measured.put(Gate.RMS_RATIO, RmsRatio.of(made.sound(), reference.sound()).farthest());
        return measured;
    }
}
