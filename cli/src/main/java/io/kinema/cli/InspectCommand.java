package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.Task;
import io.kinema.engine.inspect.ComponentReport;
import io.kinema.engine.inspect.ComponentReport.Encoding;
import io.kinema.engine.inspect.HalfScan;
import io.kinema.engine.inspect.ModelInspector;
import io.kinema.engine.inspect.ModelReport;
import io.kinema.engine.inspect.TensorGroup;
import io.kinema.model.layout.WeightLayout;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema inspect}: what a model or a weight file holds, without reading its weights, or how a clip was made. */
@Command(name = "inspect", sortOptions = false,
        description = {"Lists the components of a model with their tensors' shapes, encodings, parameter counts and bytes.",
                "Of a video or sound file: its streams, and how Kinema made it where it did."})
final class InspectCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "MODEL|FILE", description = "A model folder, a component's folder, a safetensors or GGUF file, or a clip.")
    private Path path;

    @Option(names = "--tensors", description = "List every tensor; without it, layers that are alike share a line.")
    private boolean tensors;

    @Option(names = "--scan-fp16", description = "Read every value and say what FP16 would do to each matrix: overflow, non-finite values, underflow, relative L2.")
    private boolean scanFp16;

    @Option(names = "--threads", paramLabel = "N", description = "Threads of --scan-fp16 (default: one for each core).")
    private Optional<Integer> threads = Optional.empty();

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    InspectCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (threads.isPresent() && !scanFp16) {
            throw new BadRequestException("threads", "" + threads.get(), "expected none without --scan-fp16, which alone takes them");
        }
        if (ClipInspection.knows(path)) {
            if (scanFp16 || tensors) {
                throw new BadRequestException(scanFp16 ? "scanFp16" : "tensors", "it with the clip '" + path + "'", "expected a model or a file of weights; leave it out");
            }
            terminal.print(ClipInspection.of(path, json));
            return ExitCode.DONE;
        }
        if (scanFp16) {
            HalfScan.Report scan = HalfScan.scan(path, ExecutionOptions.threads(threads), component -> terminal.err().println("reading " + component));
            terminal.print(json ? HalfScanPrinter.json(path, scan) : HalfScanPrinter.text(scan));
            return ExitCode.DONE;
        }
        ModelReport report = ModelInspector.inspect(path);
        terminal.print(json ? document(report).toPrettyString() : text(report));
        return ExitCode.DONE;
    }

    private String text(ModelReport report) {
        StringBuilder out = new StringBuilder();
        line(out, "%s: %d components, %,d parameters, %s", report.path(), report.components().size(), report.parameters(), bytes(report.bytes()));
        report.partitions().forEach(p -> line(out, "%s: original layout, partition %s for %s", p.folder().getFileName(), p.partition(),
                p.tasks().stream().map(Task::label).collect(Collectors.joining(" and "))));
        for (ComponentReport component : report.components()) {
            out.append(System.lineSeparator());
            line(out, "%s%s", component.name(), component.className().map(c -> "  " + c).orElse(""));
            if (component.sharedWith().isPresent()) {
                line(out, "  the same folder as %s", component.sharedWith().get());
            } else if (component.tensors().isEmpty()) {
                line(out, "  no weights");
            } else {
                tensors(out, component);
            }
        }
        return out.toString().stripTrailing();
    }

    private void tensors(StringBuilder out, ComponentReport component) {
        line(out, "  %d tensors %s, %,d parameters, %s, %s", component.tensors().size(), component.random() ? "of random values in place of weights"
                : "in " + component.files().size() + (component.files().size() == 1 ? " file" : " files"), component.parameters(),
                bytes(component.bytes()), component.encodings().stream().map(Encoding::name).collect(Collectors.joining(" and ")));
        if (component.encodings().stream().anyMatch(Encoding::coded)) {
            component.encodings().forEach(e -> line(out, "    %s: %d tensors, %,d parameters, %s", e.name(), e.tensors(), e.parameters(), bytes(e.bytes())));
        }
        component.unreadable().ifPresent(why -> line(out, "  CANNOT RUN: %s", why));
        component.fit().ifPresent(fit -> line(out, "  %s, %s", fit.layout() == WeightLayout.EITHER ? "names of either layout" : fit.layout().label() + " layout",
                fit.problem().map(p -> "NOT what its config implies: " + p).orElse("every tensor that its config implies and no other")));
        if (tensors) {
            component.tensors().forEach(t -> line(out, "    %s  %s %s", t.name(), t.encoding(), t.shape()));
        } else {
            TensorGroup.of(component.tensors()).forEach(g -> line(out, "    %s  %s %s%s", g.pattern(), g.encoding(), g.shape(), g.count() > 1 ? " x " + g.count() : ""));
        }
    }

    private static void line(StringBuilder out, String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }

    private static String bytes(long count) {
        return count < 1_000_000 ? String.format(Locale.ROOT, "%,d bytes", count)
                : String.format(Locale.ROOT, count < 1_000_000_000 ? "%.1f MB" : "%.2f GB", count / (count < 1_000_000_000 ? 1e6 : 1e9));
    }

    private static ObjectNode document(ModelReport report) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("path", report.path().toString()).put("parameters", report.parameters())
                .put("bytes", report.bytes());
        ArrayNode partitions = root.putArray("partitions");
        report.partitions().forEach(p -> {
            ArrayNode tasks = partitions.addObject().put("folder", p.folder().toString()).put("partition", p.partition()).putArray("tasks");
            p.tasks().forEach(task -> tasks.add(task.label()));
        });
        ArrayNode components = root.putArray("components");
        report.components().forEach(c -> components.add(document(c)));
        return root;
    }

    private static ObjectNode document(ComponentReport component) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("name", component.name()).put("path", component.path().toString())
                .put("parameters", component.parameters()).put("bytes", component.bytes());
        component.className().ifPresent(c -> node.put("class", c));
        component.sharedWith().ifPresent(c -> node.put("shared_with", c));
        if (component.random()) {
            node.put("random_weights", true);
        }
        component.fit().ifPresent(fit -> {
            node.put("layout", fit.layout().label()).put("fits_config", fit.problem().isEmpty());
            fit.problem().ifPresent(problem -> node.put("problem", problem));
        });
        ObjectNode dtypes = node.putObject("parameters_by_dtype");
        component.encodings().forEach(e -> dtypes.put(e.name(), e.parameters()));
        ArrayNode encodings = node.putArray("encodings");
        component.encodings().forEach(e -> encodings.addObject().put("name", e.name()).put("tensors", e.tensors()).put("parameters", e.parameters())
                .put("bytes", e.bytes()).put("readable", e.readable()));
        component.unreadable().ifPresent(why -> node.put("cannot_run", why));
        ObjectNode metadata = node.putObject("metadata");
        component.metadata().forEach(metadata::put);
        ArrayNode list = node.putArray("tensors");
        component.tensors().forEach(t -> {
            ObjectNode tensor = list.addObject().put("name", t.name()).put("dtype", t.encoding());
            ArrayNode shape = tensor.putArray("shape");
            for (long size : t.shape().toArray()) {
                shape.add(size);
            }
            tensor.put("bytes", t.bytes()).put("file", t.file().getFileName().toString());
        });
        return node;
    }
}
