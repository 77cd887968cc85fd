package io.kinema.cli;

import io.kinema.engine.Cancellation;
import io.kinema.engine.CancelledException;
import io.kinema.measure.bench.Bench;
import io.kinema.measure.bench.BenchRejectedException;
import io.kinema.measure.bench.BenchReport;
import io.kinema.measure.bench.BenchTable;
import io.kinema.measure.bench.GateResult;
import io.kinema.measure.contract.BenchContract;
import io.kinema.measure.contract.BenchGates;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kinema bench}: how fast a contract's request runs, measured by the protocol. */
@Command(name = "bench", sortOptions = false, customSynopsis = "kinema bench --contract FILE [OPTION...]",
        description = "Makes a contract's request once to warm up and three times to measure, in one engine; prints a table that can be pasted.",
        footer = {"", "Exit code 0 when the runs are a measurement and within every limit, else 1. docs/measuring.md describes contracts and reports."})
final class BenchCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Option(names = "--contract", paramLabel = "FILE", required = true, description = "What to measure and the limits, for example contracts/h3-nano.json.")
    private Path contract;

    @Option(names = "--output", paramLabel = "DIR", description = "Keep report, table, telemetry, clips and run records there; a new or an empty folder.")
    private Optional<Path> output = Optional.empty();

    @Option(names = "--min-tflops", paramLabel = "X", description = "Every rank's median must be above it, in place of the contract's.")
    private Optional<Double> minTflops = Optional.empty();

    @Option(names = "--max-cv", paramLabel = "X", description = "At most 0.05, in place of the contract's.")
    private Optional<Double> maxCv = Optional.empty();

    @Option(names = "--max-host-bytes", paramLabel = "BYTES", converter = ByteCount.class, description = "Memory budget of the process, such as 2GiB, in place of the contract's.")
    private Optional<Long> maxHostBytes = Optional.empty();

    @Option(names = "--max-device-bytes", paramLabel = "BYTES", converter = ByteCount.class, description = "Memory budget of each device, in place of the contract's.")
    private Optional<Long> maxDeviceBytes = Optional.empty();

    @Option(names = "--json", description = "Print the report as one JSON document.")
    private boolean json;

    @Option(names = "--quiet", description = "Print errors only, beside the result.")
    private boolean quiet;

    BenchCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        BenchContract whole = BenchContract.read(contract);
        whole = whole.withGates(gates(whole.gates()));
        try (Interruption interruption = Interruption.watch(); MeasurementFolder folder = MeasurementFolder.at(output);
                ProgressPrinter progress = ProgressPrinter.start(terminal, quiet)) {
            try {
                BenchReport report = run(whole, folder, progress, interruption.cancellation());
                folder.keep(report);
                terminal.print(json ? report.toJson().toPrettyString() : text(report));
                return report.passed() ? ExitCode.DONE : ExitCode.FAILED;
            } catch (BenchRejectedException rejected) {
                progress.close();
                terminal.err().println("kinema bench: " + rejected.getMessage());
                return ExitCode.FAILED;
            } catch (CancelledException cancelled) {
                progress.note(cancelled.getMessage() + "; nothing was measured");
                return ExitCode.INTERRUPTED;
            }
        }
    }

    private static BenchReport run(BenchContract contract, MeasurementFolder folder, ProgressPrinter progress, Cancellation cancellation) {
        return Bench.standard().run(contract, folder.path(), new Bench.Listener(progress, progress::note, clip -> { }), cancellation);
    }

    private BenchGates gates(BenchGates stated) {
        return new BenchGates(minTflops.map(OptionalDouble::of).orElse(stated.minTflops()), maxCv.orElse(stated.maxCv()),
                maxHostBytes.map(OptionalLong::of).orElse(stated.maxHostBytes()), maxDeviceBytes.map(OptionalLong::of).orElse(stated.maxDeviceBytes()));
    }

    static String text(BenchReport report) {
        StringBuilder text = new StringBuilder(BenchTable.of(report)).append(System.lineSeparator());
        for (GateResult gate : report.gates()) {
            text.append(System.lineSeparator()).append(gate.text());
        }
        report.rejection().ifPresent(why -> text.append(System.lineSeparator()).append("REJECTED as ").append(why.rule().key()).append(": ").append(why.reason()));
        return text.toString();
    }
}
