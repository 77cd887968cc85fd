package io.kinema.cli;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.GraphReplay;
import io.kinema.measure.qualify.Ledger;
import io.kinema.measure.qualify.RouteChoice;
import io.kinema.measure.qualify.RouteChooser;
import io.kinema.engine.model.BundledModel;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.layout.WeightLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that say which model runs and how. */
final class ExecutionOptions {
    @Option(names = "--model", paramLabel = "DIR", description = "Model folder (default: the bundled models/h3-nano).")
    private Optional<Path> model = Optional.empty();

    @Option(names = "--transformer", paramLabel = "FILE", description = "Transformer used instead of the model's own: a folder, a "
            + "safetensors file (plain, FP8, INT8 ConvRot) or a GGUF file.")
    private Optional<Path> transformer = Optional.empty();

    @Option(names = "--transformer-layout", paramLabel = "LAYOUT", description = "How that transformer's q, k and v rows lie, where its names "
            + "leave it open: original (MiniMax's, per head) or comfyui (stacked).")
    private Optional<String> transformerLayout = Optional.empty();

    @Option(names = "--device", paramLabel = "cpu|cuda:N[,N]", description = "Where it runs; with --tensor-parallel a GPU for each rank (default: cpu).")
    private Optional<String> device = Optional.empty();

    @Option(names = "--precision", paramLabel = "PLAN", description = "fp32, fp16-fp32res or bf16-fp32res (default: fp32).")
    private Optional<String> precision = Optional.empty();

    @Option(names = "--threads", paramLabel = "N", description = "Compute threads (default: one for each core).")
    private Optional<Integer> threads = Optional.empty();

    @Option(names = "--fp16-weight-layout", paramLabel = "LAYOUT", description = "row or column: how the transformer's FP16 matrices lie in memory, "
            + "with --precision fp16-fp32res (default: row).")
    private Optional<String> fp16WeightLayout = Optional.empty();

    @Option(names = "--execution", paramLabel = "explicit|auto", description = "auto: the fastest way of running that kinema qualify found right and steady "
            + "for this shape on this machine; else, and by default, the options as given.")
    private Optional<String> execution = Optional.empty();

    @Option(names = "--weight-offload", paramLabel = "component|layer", description = "Keep one network at a time on the GPU, whole or one layer of it "
            + "(default: all that fit stay there).")
    private Optional<String> weightOffload = Optional.empty();

    @Option(names = "--vae-precision", paramLabel = "PLAN", description = "Plan of the video decoder's products: fp32, fp16-fp32res or bf16-fp32res "
            + "(default: fp32).")
    private Optional<String> vaePrecision = Optional.empty();

    @Option(names = "--graph-replay", paramLabel = "on|off", description = "Record a step on the GPU and replay it for the steps that follow, with the "
            + "same bits (default: on).")
    private Optional<String> graphReplay = Optional.empty();

    @Option(names = "--random-weights", paramLabel = "released", description = "The released model's sizes with random weights: measures speed and "
            + "memory, makes noise.")
    private Optional<String> randomWeights = Optional.empty();

    @Mixin
    private ResidencyFlags residencyFlags = new ResidencyFlags();

    @Mixin
    private KeepingFlags keepingFlags = new KeepingFlags();

    @Mixin
    private DeviceOptions deviceOptions = new DeviceOptions();

    @Mixin
    private ParallelOptions parallelOptions = new ParallelOptions();

    /** The options as given, or with {@code --execution auto} what the user's ledger vouches for. */
    RouteChoice route(GenerateRequest request) {
        return switch (execution.orElse("explicit")) {
            case "explicit" -> new RouteChoice(engine(), false, List.of());
            case "auto" -> RouteChooser.of(Ledger.ofUser()).choose(engine(), request);
            default -> throw new BadRequestException("execution", "'" + execution.get() + "'", "expected explicit or auto");
        };
    }

    /**
     * The options of a process that makes many clips, each in the same way.
     *
     * @throws BadRequestException when the way is to be chosen for each
     */
    EngineOptions standing() {
        if (execution.isPresent() && !execution.get().equals("explicit")) {
            throw new BadRequestException("execution", "'" + execution.get() + "'", "expected explicit here, since all jobs run the same way; give the options that "
                    + "kinema qualify --list shows");
        }
        return engine();
    }

    EngineOptions engine() {
        EngineOptions.Builder options = EngineOptions.builder();
        if (model.isPresent() && randomWeights.isPresent()) {
            throw new BadRequestException("randomWeights", "'" + randomWeights.get() + "' together with --model", "expected one or the other");
        }
        model.ifPresent(options::model);
        randomWeights.map(ExecutionOptions::random).ifPresent(options::model);
        vaePrecision.map(ExecutionOptions::precision).ifPresent(options::vaePrecision);
        graphReplay.map(ExecutionOptions::replay).ifPresent(options::graphReplay);
        weightOffload.map(ExecutionOptions::residency).ifPresent(options::weightOffload);
        transformer.ifPresent(options::transformer);
        transformerLayout.map(ExecutionOptions::layout).ifPresent(options::transformerLayout);
        device.ifPresent(options::device);
        precision.map(ExecutionOptions::precision).ifPresent(options::precision);
        threads.ifPresent(options::threads);
        fp16WeightLayout.map(ExecutionOptions::matrixLayout).ifPresent(options::fp16WeightLayout);
        options.residency(keepingFlags.over(residencyFlags.options()));
        options.backend(deviceOptions.backend());
        options.ranks(parallelOptions.ranks());
        return options.build();
    }

    private static MatrixLayout matrixLayout(String label) {
        return MatrixLayout.labelled(label).orElseThrow(() -> new BadRequestException("fp16WeightLayout", "'" + label + "'", "expected row or column"));
    }

    /** Compute threads of a command that runs no model. */
    static int threads(Optional<Integer> stated) {
        int threads = stated.orElseGet(() -> Runtime.getRuntime().availableProcessors());
        if (threads < 1 || threads > EngineOptions.MAX_THREADS) {
            throw new BadRequestException("threads", "" + threads, "expected 1 to " + EngineOptions.MAX_THREADS);
        }
        return threads;
    }

    static WeightLayout layout(String label) {
        return switch (label.toLowerCase(Locale.ROOT)) {
            case "original" -> WeightLayout.ORIGINAL;
            case "comfyui" -> WeightLayout.COMFYUI;
            default -> throw new BadRequestException("transformer-layout", "'" + label + "'", "expected original or comfyui");
        };
    }

    private static Path random(String name) {
        if (!name.equals("released")) {
            throw new BadRequestException("randomWeights", "'" + name + "'", "expected released");
        }
        return BundledModel.releasedSizes();
    }

    private static GraphReplay replay(String label) {
        return GraphReplay.labelled(label).orElseThrow(() -> new BadRequestException("graphReplay", "'" + label + "'", "expected on or off"));
    }

    static WeightResidency residency(String label) {
        return WeightResidency.labelled(label).orElseThrow(() -> new BadRequestException("weightOffload", "'" + label + "'", "expected component or layer"));
    }

    static Precision precision(String label) {
        return Precision.labelled(label).orElseThrow(() -> new BadRequestException("precision", "'" + label + "'", "expected "
                + Arrays.stream(Precision.values()).map(Precision::label).collect(Collectors.joining(", "))));
    }
}
