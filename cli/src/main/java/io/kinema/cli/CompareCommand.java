package io.kinema.cli;

import io.kinema.media.BadMediaException;
import io.kinema.media.Media;
import io.kinema.media.file.WriteTarget;
import io.kinema.quality.Gate;
import io.kinema.quality.QualityGates;
import io.kinema.quality.compare.Comparer;
import io.kinema.quality.compare.Comparison;
import io.kinema.quality.compare.ComparisonOptions;
import io.kinema.quality.report.HtmlReport;
import io.kinema.quality.report.JsonReport;
import io.kinema.quality.report.TableReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kinema compare}: a candidate held to a reference. */
@Command(name = "compare", sortOptions = false,
        description = {"Measures how far a candidate lies from its reference, and judges it by the published gates.",
                "Of a clip of Kinema's, latents, frames and WAV that were saved beside it are used where both sides have them."},
        footer = {"", "Exits with 0 when every gate passes, with 1 when one fails, with 2 when the two cannot be compared."})
final class CompareCommand implements Callable<Integer> {
    private static final int PROGRESS_FRAMES = 12;

    private final Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "CANDIDATE", description = "A clip, video, sound, picture or safetensors file, a folder of frames, or a folder of results.")
    private Path candidate;

    @Parameters(index = "1", paramLabel = "REFERENCE", description = "What it is held to.")
    private Path reference;

    @Option(names = {"--report", "--html"}, paramLabel = "FILE.html", description = "Write a page with pictures too; one file that needs no other.")
    private Optional<Path> report = Optional.empty();

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Option(names = "--gate", paramLabel = "NAME=LIMIT", description = "Another limit for a gate, stricter than the published one: video_latents, audio_latents, psnr, ssim, "
            + "spectral_cosine, rms_ratio (distance from 1) or tensors. Repeatable.")
    private List<String> limits = List.of();

    @Option(names = "--relax", description = "Allow --gate limits that are looser than the published ones; the result says so.")
    private boolean relax;

    @Option(names = "--bitwise", description = "Fail unless all that is compared is equal bit for bit.")
    private boolean bitwise;

    @Option(names = "--strict", description = "Fail on warnings too: flashes, seams, clicks, clipping or drift that the reference does not have.")
    private boolean strict;

    @Option(names = "--encoded", description = "Compare the files named, not what was saved beside them before encoding.")
    private boolean encoded;

    @Option(names = "--common", description = "Where lengths, rates or parts differ, compare what both have, and say so, instead of refusing.")
    private boolean common;

    CompareCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        ComparisonOptions options = new ComparisonOptions(gates(), encoded, common, bitwise, report.isPresent());
        report.ifPresent(this::requireFree);
        Media.preload();
        Comparison comparison = Comparer.compare(candidate, reference, options, this::show);
        clearLine();
        report.ifPresent(file -> HtmlReport.write(comparison, file));
        boolean warned = strict && !comparison.warnings().isEmpty();
        boolean accepted = comparison.verdict().passed() && !warned;
        terminal.print(json ? JsonReport.of(comparison, accepted).toPrettyString() : TableReport.of(comparison));
        if (!json && warned) {
            terminal.print("FAIL: --strict allows no warning");
        }
        return accepted ? ExitCode.DONE : ExitCode.FAILED;
    }

    /** A line that is rewritten, for a person; a file or a pipe gets results only. */
    private void show(int frames) {
        if (terminal.interactive() && frames % PROGRESS_FRAMES == 0) {
            terminal.err().print("\r" + frames + " frames compared");
            terminal.err().flush();
        }
    }

    private void clearLine() {
        if (terminal.interactive()) {
            terminal.err().print("\r" + " ".repeat(40) + "\r");
            terminal.err().flush();
        }
    }

    /** The page must be writable, and not be one of the files it tells of. */
    private void requireFree(Path file) {
        Path target = WriteTarget.resolve(file);
        for (Path input : List.of(candidate, reference)) {
            if (isOne(target, input)) {
                throw new BadMediaException("Cannot write '" + file + "': it is what is compared; choose another name for the report.");
            }
        }
    }

    private static boolean isOne(Path target, Path input) {
        try {
            return Files.exists(target) && Files.exists(input) && Files.isSameFile(target, input);
        } catch (IOException unreadable) {
            return false;
        }
    }

    private QualityGates gates() {
        QualityGates gates = QualityGates.published();
        for (String limit : limits) {
            int equals = limit.indexOf('=');
            String name = equals < 0 ? limit : limit.substring(0, equals);
            Gate gate = Gate.labelled(name).filter(g -> g != Gate.BITWISE).orElseThrow(() -> mistake("--gate: got '" + name + "', expected one of "
                    + Stream.of(Gate.values()).filter(g -> g != Gate.BITWISE).map(Gate::label).collect(Collectors.joining(", "))));
            gates = with(gates, gate, number(limit, equals));
        }
        return gates;
    }

    private QualityGates with(QualityGates gates, Gate gate, double limit) {
        try {
            return relax ? gates.relax(gate, limit) : gates.tighten(gate, limit);
        } catch (IllegalArgumentException wrong) {
            throw mistake("--gate " + wrong.getMessage() + (gate.isRelaxedBy(limit) ? ", by --relax" : ""));
        }
    }

    private double number(String limit, int equals) {
        try {
            return Double.parseDouble(limit.substring(equals + 1));
        } catch (NumberFormatException wrong) {
            throw mistake("--gate: got '" + limit + "', expected NAME=NUMBER such as psnr=45");
        }
    }

    private ParameterException mistake(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
