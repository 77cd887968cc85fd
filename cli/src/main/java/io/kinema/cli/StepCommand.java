package io.kinema.cli;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.engine.HostDevices;
import io.kinema.engine.ResidencyOptions;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.pipeline.Backends;
import io.kinema.engine.plan.LayerRules;
import io.kinema.engine.record.ProcessMemory;
import io.kinema.measure.step.OperationTimes;
import io.kinema.measure.step.TransformerStep;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.load.StagingReport;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kinema step}: evaluations of a transformer, by default the released size with random weights, timed. */
@Command(name = "step", sortOptions = false,
        description = "Times evaluations of a transformer alone: of the released size with random weights, or a folder's. No clip comes out.")
final class StepCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Option(names = "--device", paramLabel = "cpu|cuda:N[,N]", description = "Where it runs, a GPU for each rank (default: cuda:0).")
    private String device = "cuda:0";

    @Option(names = "--precision", paramLabel = "PLAN", description = "fp32, fp16-fp32res or bf16-fp32res (default: bf16-fp32res).")
    private String precision = Precision.BF16_FP32RES.label();

    @Option(names = "--transformer", paramLabel = "DIR", description = "Folder of a transformer with its config.json, in place of random weights.")
    private Optional<Path> transformer = Optional.empty();

    @Option(names = "--layers", paramLabel = "N", description = "Only the first N layers.")
    private Optional<Integer> layers = Optional.empty();

    @Option(names = "--video-rows", paramLabel = "N", description = "Video rows (default: 34040, 1280x736 with 124 frames).")
    private int videoRows = TransformerStep.Rows.PRIMARY.video();

    @Option(names = "--audio-rows", paramLabel = "N", description = "Audio rows (default: 414).")
    private int audioRows = TransformerStep.Rows.PRIMARY.audio();

    @Option(names = "--text-rows", paramLabel = "N", description = "Text rows (default: 97).")
    private int textRows = TransformerStep.Rows.PRIMARY.text();

    @Option(names = "--runs", paramLabel = "N", description = "Timed evaluations (default: 3).")
    private int runs = 3;

    @Option(names = "--weight-offload", paramLabel = "component|layer", description = "Where the layers live: all on the device, or one at a time.")
    private String residency = WeightResidency.COMPONENT.label();

    @Option(names = "--no-operations", description = "Leave the times of single operations out.")
    private boolean noOperations;

    @Mixin
    private ResidencyFlags residencyFlags = new ResidencyFlags();

    @Mixin
    private ParallelOptions parallelOptions = new ParallelOptions();

    @Mixin
    private DeviceOptions deviceOptions = new DeviceOptions();

    StepCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        WeightResidency offload = ExecutionOptions.residency(residency);
        ResidencyOptions residencyOptions = residencyFlags.options();
        residencyOptions.requireOffload(Optional.of(offload));
        HostDevices.require(device, residencyOptions.hostWeights());
        Optional<NetworkFolder> folder = transformer.map(NetworkFolder::read);
        DitConfig whole = folder.map(f -> DitConfig.read(f.config())).orElse(DitConfig.RELEASED);
        DitConfig config = whole.withLayers(Limits.within("layers", layers.orElse(whole.layers()), 1, whole.layers()));
        LayerRules.require(residencyOptions.residentLayers().orElse(0), config);
        TransformerStep step = new TransformerStep(config, ExecutionOptions.precision(precision), rows(),
                Limits.within("runs", runs, 1, Limits.RUNS), new WeightPlacement(offload, residencyOptions.residentLayers().orElse(0)),
                residencyOptions.hostWeights(), folder.map(f -> f::open), parallelOptions.ranks().residual().sharding(), !noOperations);
        try (BackendGroup ranks = Backends.group(device, parallelOptions.ranks(), OptionalInt.empty(), deviceOptions.backend()).get()) {
            print(step, step.measure(ranks), ranks.backends());
        }
        return ExitCode.DONE;
    }

    private TransformerStep.Rows rows() {
        return new TransformerStep.Rows(Limits.within("textRows", textRows, 0, Limits.ROWS), Limits.within("audioRows", audioRows, 0, Limits.ROWS),
                Limits.within("videoRows", videoRows, 1, Limits.ROWS));
    }

    private void print(TransformerStep step, TransformerStep.Result result, List<Backend> backends) {
        print("step %s %s, %d layers, rows %d+%d+%d: median %.4f s of %s, %.1f useful TFLOP/s", device, precision, step.config().layers(), textRows, audioRows,
                videoRows, result.median(), result.seconds(), result.flops() / result.median() / 1e12);
        print("loaded in %.1f s, first evaluation %.2f s, peak device memory %s bytes, sum of velocities %.9g, repeats bitwise: %s", result.loadSeconds(),
                result.firstSeconds(), backends.stream().map(b -> Long.toString(b.report().peakDeviceBytes())).collect(Collectors.joining(" and ")), result.checksum(),
                result.repeatsBitwise());
        print("velocities sha256 %s", result.sha256());
        weights(result);
        result.replay().ifPresent(r -> print("recorded evaluation %.4f s, the same bits: %s", r.seconds(), r.bitwise()));
        result.reductions().ifPresent(r -> print("%d reductions a step, one alone %.3f ms, all of them %.1f%% of the step", r.calls(), r.seconds() * 1e3,
                100 * r.share(result.median())));
        for (OperationTimes.Line line : result.table()) {
            print("  %9.3f ms %4d x  %s", line.seconds() * 1e3, line.calls(), line.operation());
        }
        backends.getFirst().choices().forEach((what, choice) -> print("  %s: %s", what, choice));
    }

    private void weights(TransformerStep.Result result) {
        StagingReport staging = result.staging();
        print("weights: offload %s, host %s, %d layers resident, %d blocks and %d bytes staged in %.3f s, computation stalled %.3f s, %d bytes held on the host",
                residency, residencyFlags.options().hostWeights().label(), staging.residentBlocks(), staging.stagedBlocks(), staging.stagedBytes(),
                staging.stagingSeconds(), staging.stallSeconds(), result.heldBytes());
        ProcessMemory memory = result.process();
        print("process: peak resident %d bytes; after the evaluations %d anonymous, %d of mapped files", memory.peakResident(), memory.anonymous(),
                memory.mappedFiles());
    }

    private void print(String format, Object... values) {
        terminal.print(String.format(Locale.ROOT, format, values));
    }
}
