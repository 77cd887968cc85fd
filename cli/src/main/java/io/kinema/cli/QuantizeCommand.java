package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.Task;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.QuantizeReport;
import io.kinema.engine.convert.Quantizer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema quantize}: a transformer as one INT8 ConvRot file. */
@Command(name = "quantize", sortOptions = false, description = {
    "Writes a transformer as one INT8 ConvRot file, in the form of ComfyUI's repacks; generate reads it with --transformer.",
    "The four matrices of every block become signed bytes with a scale for each row; their input axis is rotated in groups as wide as the largest "
            + "power of 4, up to --group-size, that divides it. The file's metadata and every matrix's marker say so. All else stays as it is.",
    "The file is written beside the target, read back, and put in its place in one step."})
final class QuantizeCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "MODEL|FOLDER|FILE", description = "A model in either layout, a transformer's folder, or a transformer file of plain floats.")
    private Path from;

    @Option(names = "--output", required = true, paramLabel = "FILE", description = "The .safetensors file to be.")
    private Path output;

    @Option(names = "--group-size", paramLabel = "N", description = "The most columns rotated together, a power of 4 (default: 256, as published). "
            + "Ranks can share what is cut between groups: h3-nano needs 64.")
    private int group = 256;

    @Option(names = "--task", paramLabel = "TASK", description = "Whose transformer of a model with two: t2va, fl2va or ref2va (default: the first it has).")
    private Optional<String> task = Optional.empty();

    @Option(names = "--model", paramLabel = "DIR", description = "Model whose config belongs to a transformer file without one (default: the bundled one).")
    private Optional<Path> model = Optional.empty();

    @Option(names = "--transformer-layout", paramLabel = "LAYOUT", description = "How such a file's q, k and v rows lie, where its names leave it open: "
            + "original or comfyui.")
    private Optional<String> transformerLayout = Optional.empty();

    @Option(names = "--threads", paramLabel = "N", description = "Compute threads (default: one for each core).")
    private Optional<Integer> threads = Optional.empty();

    @Option(names = "--overwrite", description = "Replace what is there.")
    private boolean overwrite;

    @Option(names = "--quiet", description = "No progress.")
    private boolean quiet;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    QuantizeCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        QuantizeOptions options = new QuantizeOptions(group, overwrite, task.map(QuantizeCommand::task), model,
                transformerLayout.map(ExecutionOptions::layout), ExecutionOptions.threads(threads));
        QuantizeReport report = Quantizer.quantize(from, output, options, name -> {
            if (!quiet) {
                terminal.err().println("coded " + name);
            }
        });
        terminal.print(json ? document(report).toPrettyString() : text(report));
        return ExitCode.DONE;
    }

    private String text(QuantizeReport report) {
        TreeMap<String, Long> groups = report.matrices().stream().collect(Collectors.groupingBy(
                m -> m.group().isPresent() ? "groups of " + m.group().getAsInt() + " on width " + m.shape().dim(1) : "no rotation on width " + m.shape().dim(1),
                TreeMap::new, Collectors.counting()));
        double worst = report.matrices().stream().mapToDouble(QuantizeReport.Matrix::relativeL2).max().orElse(0);
        double mean = report.matrices().stream().mapToDouble(QuantizeReport.Matrix::relativeL2).average().orElse(0);
        return String.format(Locale.ROOT, "%s: %,d bytes, read back, sha256 %s%n%d matrices as INT8: %s%nrelative L2 of the matrices: %.5f on average, %.5f at most%s",
                output, report.file().bytes(), report.file().sha256(), report.matrices().size(),
                groups.entrySet().stream().map(g -> g.getValue() + " in " + g.getKey()).collect(Collectors.joining(", ")), mean, worst, ranks(report));
    }

    /** Said where the groups keep ranks from sharing what they otherwise could. */
    private static String ranks(QuantizeReport report) {
        return report.shared().isEmpty() ? "" : String.format(Locale.ROOT, "%nfor --tensor-parallel %s; --group-size %d makes a file that more ranks can share",
                report.ranks().stream().map(String::valueOf).collect(Collectors.joining(" or ")), report.shared().getAsInt());
    }

    private static Task task(String label) {
        return Task.labelled(label).orElseThrow(() -> new BadRequestException("task", "'" + label + "'", "expected t2va, fl2va or ref2va"));
    }

    private static ObjectNode document(QuantizeReport report) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("file", report.file().name()).put("bytes", report.file().bytes()).put("sha256", report.file().sha256());
        ObjectNode metadata = root.putObject("metadata");
        report.metadata().forEach(metadata::put);
        ArrayNode ranks = root.putArray("tensor_parallel");
        report.ranks().forEach(ranks::add);
        ArrayNode matrices = root.putArray("matrices");
        report.matrices().forEach(m -> {
            ObjectNode matrix = matrices.addObject().put("name", m.name()).put("rows", m.shape().dim(0)).put("columns", m.shape().dim(1)).put("relative_l2", m.relativeL2());
            m.group().ifPresent(g -> matrix.put("group", g));
        });
        return root;
    }
}
