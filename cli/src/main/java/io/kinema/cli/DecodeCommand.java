package io.kinema.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.pipeline.Backends;
import io.kinema.measure.step.DecodingWork;
import io.kinema.measure.step.OperationTimes;
import io.kinema.measure.step.VideoDecoding;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kinema decode}: the video decoder on random latents, timed. */
@Command(name = "decode", sortOptions = false,
        description = "Times the video decoder on random latents, by default the released one with random weights: no checkpoint is needed, no clip comes out.")
final class DecodeCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Option(names = "--device", paramLabel = "cpu|cuda:N", description = "Where it runs (default: cuda:0).")
    private String device = "cuda:0";

    @Option(names = "--model", paramLabel = "DIR", description = "Model folder whose video VAE to run (default: the released sizes with random weights).")
    private Optional<Path> model = Optional.empty();

    @Option(names = "--vae-precision", paramLabel = "PLAN", description = "fp32, fp16-fp32res or bf16-fp32res (default: fp16-fp32res).")
    private String precision = Precision.FP16_FP32RES.label();

    @Option(names = "--latent-frames", paramLabel = "N", description = "Latent frames (default: 37, which is 124 frames).")
    private int frames = VideoDecoding.Clip.PRIMARY.frames();

    @Option(names = "--latent-height", paramLabel = "N", description = "Rows of latents (default: 46, 736 pixels).")
    private int height = VideoDecoding.Clip.PRIMARY.height();

    @Option(names = "--latent-width", paramLabel = "N", description = "Columns of latents (default: 80, 1280 pixels).")
    private int width = VideoDecoding.Clip.PRIMARY.width();

    @Option(names = "--runs", paramLabel = "N", description = "Timed decodings (default: 3).")
    private int runs = 3;

    @Option(names = "--rows-together", paramLabel = "N", description = "Rows of several tiles to decode together (default: what the device wants).")
    private Optional<Long> rowsTogether = Optional.empty();

    @Mixin
    private DeviceOptions deviceOptions = new DeviceOptions();

    DecodeCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        ModelFolder folder = ModelFolder.open(model.orElseGet(BundledModel::releasedSizes));
        JsonNode config = folder.config(Component.VIDEO_VAE);
        VideoVaeConfig vae = VideoVaeConfig.read(config);
        if (rowsTogether.orElse(0L) < 0) {
            throw new BadRequestException("rowsTogether", "" + rowsTogether.get(), "expected 0 (tile by tile) or more");
        }
        VideoDecoding decoding = new VideoDecoding(vae, ExecutionOptions.precision(precision), clip(vae), Limits.within("runs", runs, 1, Limits.RUNS),
                rowsTogether.map(OptionalLong::of).orElse(OptionalLong.empty()));
        long start = System.nanoTime();
        try (Backend backend = Backends.opener(device, OptionalInt.empty(), deviceOptions.backend()).get();
             TensorSource weights = folder.open(Component.VIDEO_VAE)) {
            // Random values are made when they are first asked for.
            weights.names().forEach(weights::find);
            double made = (System.nanoTime() - start) / 1e9;
            report(decoding.measure(backend, weights), backend, made);
        }
        return ExitCode.DONE;
    }

    private VideoDecoding.Clip clip(VideoVaeConfig vae) {
        Limits.within("latentFrames", frames, vae.timing().minimumLatentFrames(), Limits.ROWS);
        Limits.within("latentHeight", height, 1, Limits.ROWS);
        Limits.within("latentWidth", width, 1, Limits.ROWS);
        long most = Limits.LATENT_VALUES / vae.latentChannels();
        if ((long) frames * height > most || (long) frames * height * width > most) {
            throw new BadRequestException("latentFrames and latentHeight and latentWidth", frames + "x" + height + "x" + width, "expected at most " + most
                    + " latents; ask for fewer frames or a smaller picture");
        }
        return new VideoDecoding.Clip(frames, height, width);
    }

    private void report(VideoDecoding.Result result, Backend backend, double made) {
        DecodingWork work = result.work();
        VideoDecoding.Run median = result.median();
        print("decode %s %s, latents %dx%dx%d: %d tiles of %d rows, %.1f + %.1f TFLOP (products, attention), %d weights", device, precision, frames,
                height, width, work.tiles(), work.rowsOfTile(), work.productFlops() / 1e12, work.scoreFlops() / 1e12, work.weightValues());
        print("median %.3f s of %s to the pictures' bytes on the host, %.1f useful TFLOP/s; everything enqueued %.3f s before the end", median.seconds(),
                result.runs().stream().map(r -> String.format(Locale.ROOT, "%.3f", r.seconds())).toList(), work.flops() / median.seconds() / 1e12,
                median.lastSeconds());
        print("device opened and weights made in %.2f s, brought and rounded in %.2f s, first decoding %.3f s, peak device memory %d bytes", made,
                result.loadSeconds(), result.first().seconds(), backend.report().peakDeviceBytes());
        print("checksum %08x, repeats bitwise: %s, tiles together as one by one: %s", result.checksum(), result.repeats(), result.oneByOne());
        for (OperationTimes.Line line : result.table()) {
            print("  %9.3f ms %5d x  %s", line.seconds() * 1e3, line.calls(), line.operation());
        }
        backend.choices().forEach((what, choice) -> print("  %s: %s", what, choice));
    }

    private void print(String format, Object... values) {
        terminal.print(String.format(Locale.ROOT, format, values));
    }
}
