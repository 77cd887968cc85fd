package io.kinema.quality.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.image.ImageReader;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.picture.Pictures;
import io.kinema.quality.picture.Psnr;
import io.kinema.quality.picture.SquaredError;
import io.kinema.quality.picture.Ssim;
import io.kinema.quality.picture.SsimWindow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * PSNR and SSIM against FFmpeg's psnr and ssim filters, which share nothing with this code, on planar RGB so that no conversion stands
 * between. PSNR has one definition. FFmpeg's SSIM is another than the gate's (8x8 blocks at every fourth pixel, sample statistics,
 * constants rounded to integers, FP32 sums): with its window this code gives its numbers, and with the gate's the paper's. The
 * numbers are left in target/ffmpeg-agreement.md.
 */
class FFmpegAgreementTest {
    private static final Pattern FRAME_PSNR = Pattern.compile("n:(\\d+) mse_avg:([\\d.]+) .*psnr_avg:(inf|[\\d.]+)");
    private static final Pattern ALL_PSNR = Pattern.compile("PSNR .*average:(inf|[\\d.]+)");
    private static final Pattern FRAME_SSIM = Pattern.compile("n:(\\d+) .*All:([\\d.]+)");
    private static final Pattern ALL_SSIM = Pattern.compile("SSIM .*All:([\\d.]+)");
    private static final int FRAMES = 4;

    private static final List<String> TABLE = new ArrayList<>(List.of("| pair | PSNR | FFmpeg | SSIM, 8x8 block | FFmpeg | SSIM of the gate |", "| --- | --- | --- | --- | --- | --- |"));

    @TempDir
    private Path folder;

    @AfterAll
    static void leaveTheNumbers() throws IOException {
        Files.write(Files.createDirectories(Path.of("target")).resolve("ffmpeg-agreement.md"), TABLE);
    }

    /** How the candidate of a pair was spoilt. */
    enum Pair {
        NOISE(176, 144) {
            @Override
            RgbImage spoil(RgbImage image, int t) {
                return Pictures.noisy(image, 6, t);
            }
        },
        BRIGHTER(160, 96) {
            @Override
            RgbImage spoil(RgbImage image, int t) {
                return Pictures.paint(image.width(), image.height(), (x, y, c) -> image.at(x, y, c) + 5 + 2 * t);
            }
        },
        BLURRED(128, 128) {
            @Override
            RgbImage spoil(RgbImage image, int t) {
                return Pictures.paint(image.width(), image.height(), (x, y, c) -> (image.at(Math.max(0, x - 2), y, c) + image.at(x, y, c)
                        + image.at(Math.min(image.width() - 1, x + 2), y, c)) / 3.0);
            }
        },
        BLOCKY(192, 64) {
            @Override
            RgbImage spoil(RgbImage image, int t) {
                return Pictures.paint(image.width(), image.height(), (x, y, c) -> image.at(x / 8 * 8, y / 8 * 8, c));
            }
        },
        ONE_CHANNEL(96, 80) {
            @Override
            RgbImage spoil(RgbImage image, int t) {
                return t == 0 ? image : Pictures.paint(image.width(), image.height(), (x, y, c) -> image.at(x, y, c) + (c == 2 ? 20 * Math.sin(0.3 * x * t) : 0));
            }
        };

        private final int width;
        private final int height;

        Pair(int width, int height) {
            this.width = width;
            this.height = height;
        }

        abstract RgbImage spoil(RgbImage image, int t);
    }

    @ParameterizedTest
    @EnumSource(Pair.class)
    void psnrAndSsimAreFFmpegsWithinTheirDefinition(Pair pair) throws IOException, InterruptedException {
        List<RgbImage> references = new ArrayList<>();
        List<RgbImage> candidates = new ArrayList<>();
        for (int t = 0; t < FRAMES; t++) {
            references.add(Pictures.noisy(Pictures.waves(pair.width, pair.height, 0.4 * t), 2, 100 + t));
            candidates.add(pair.spoil(references.get(t), t));
            PngWriter.write(references.get(t), PngWriter.frameFile(folder.resolve("reference"), t));
            PngWriter.write(candidates.get(t), PngWriter.frameFile(folder.resolve("candidate"), t));
        }
        // What FFmpeg is given is what is compared here.
        assertThat(ImageReader.read(folder.resolve("candidate/frame-00001.png")).rgb()).isEqualTo(candidates.get(1).rgb());
        String psnr = psnr(candidates, references, ffmpeg("psnr"));
        String ssim = ssim(candidates, references, ffmpeg("ssim"));
        TABLE.add("| " + pair.name().toLowerCase(Locale.ROOT).replace('_', ' ') + ", " + pair.width + "x" + pair.height + " | " + psnr + " | " + ssim + " |");
    }

    private static String psnr(List<RgbImage> candidates, List<RgbImage> references, String log) {
        FrameComparison comparison = new FrameComparison();
        Matcher frames = FRAME_PSNR.matcher(log);
        for (int t = 0; t < FRAMES; t++) {
            comparison.add(candidates.get(t), references.get(t));
            assertThat(frames.find()).as(log).isTrue();
            long error = SquaredError.of(candidates.get(t), references.get(t));
            long values = (long) references.get(t).width() * references.get(t).height() * 3;
            assertThat((double) error / values).as("MSE of frame %d", t).isCloseTo(Double.parseDouble(frames.group(2)), within(0.00501));
            same(Psnr.of(error, values), frames.group(3), 0.00501);
        }
        Matcher all = ALL_PSNR.matcher(log);
        assertThat(all.find()).as(log).isTrue();
        same(comparison.psnr().orElseThrow(), all.group(1), 2e-6);
        return String.format(Locale.ROOT, "%.6f | %s", comparison.psnr().orElseThrow(), all.group(1));
    }

    private static String ssim(List<RgbImage> candidates, List<RgbImage> references, String log) {
        Matcher frames = FRAME_SSIM.matcher(log);
        double ours = 0;
        double gate = 0;
        for (int t = 0; t < FRAMES; t++) {
            assertThat(frames.find()).as(log).isTrue();
            double theirs = Double.parseDouble(frames.group(2));
            double block = Ssim.of(candidates.get(t), references.get(t), SsimWindow.BLOCK_8);
            assertThat(block).as("frame %d", t).isCloseTo(theirs, within(2e-5));
            ours += block / FRAMES;
            gate += Ssim.of(candidates.get(t), references.get(t)) / FRAMES;
        }
        Matcher all = ALL_SSIM.matcher(log);
        assertThat(all.find()).as(log).isTrue();
        assertThat(ours).isCloseTo(Double.parseDouble(all.group(1)), within(2e-5));
        return String.format(Locale.ROOT, "%.6f | %s | %.6f", ours, all.group(1), gate);
    }

    private static void same(double ours, String theirs, double tolerance) {
        if (theirs.equals("inf")) {
            assertThat(ours).isInfinite();
        } else {
            assertThat(ours).isCloseTo(Double.parseDouble(theirs), within(tolerance));
        }
    }

    /** The filter's numbers by frame, then its summary. */
    private String ffmpeg(String filter) throws IOException, InterruptedException {
        String graph = "[0]format=gbrp[a];[1]format=gbrp[b];[a][b]" + filter + "=stats_file=-";
        return Program.ffmpeg("-i", folder.resolve("candidate/frame-%05d.png").toString(), "-i", folder.resolve("reference/frame-%05d.png").toString(), "-lavfi", graph,
                "-f", "null", "-");
    }
}
