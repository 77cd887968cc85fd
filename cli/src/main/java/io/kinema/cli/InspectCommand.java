package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.inspect.ComponentReport;
import io.kinema.engine.inspect.ModelInspector;
import io.kinema.engine.inspect.ModelReport;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema inspect}: what a model or a weight file holds, from headers alone. */
@Command(name = "inspect", sortOptions = false,
        description = "Shows a model's components with their shapes, dtypes, parameter counts and bytes; reads headers only.")
final class InspectCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "MODEL", description = "A model folder, a component's folder or a .safetensors file.")
    private Path model;

    @Option(names = "--json", description = "Print one JSON document, with every tensor.")
    private boolean json;

    InspectCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        ModelReport report = ModelInspector.inspect(model);
        if (json) {
            terminal.print(document(report).toPrettyString());
        } else {
            report.components().forEach(this::print);
            terminal.print(String.format(Locale.ROOT, "%s: %,d parameters, %s", model, report.parameters(), size(report.bytes())));
        }
        return ExitCode.DONE;
    }

    private void print(ComponentReport component) {
        terminal.print(component.name() + component.className().map(name -> "  " + name).orElse("") + "  " + summary(component));
        if (component.sharedWith().isEmpty()) {
            TensorGroup.of(component.tensors()).forEach(group -> terminal.print("  " + group));
        }
        terminal.print("");
    }

    private static String summary(ComponentReport component) {
        if (component.tensors().isEmpty()) {
            return "no weights";
        }
        String dtypes = component.parametersByDType().entrySet().stream()
                .map(entry -> String.format(Locale.ROOT, "%s %,d", entry.getKey(), entry.getValue())).collect(Collectors.joining(", "));
        int files = component.files().size();
        return String.format(Locale.ROOT, "%,d tensors in %d %s, %,d parameters (%s), %s", component.tensors().size(), files,
                files == 1 ? "file" : "files", component.parameters(), dtypes, size(component.bytes()))
                + component.sharedWith().map(owner -> ", the same as " + owner).orElse("");
    }

    private static ObjectNode document(ModelReport report) {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("path", report.path().toString())
                .put("parameters", report.parameters()).put("bytes", report.bytes());
        ArrayNode components = document.putArray("components");
        report.components().forEach(component -> components.add(document(component)));
        return document;
    }

    private static ObjectNode document(ComponentReport component) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("name", component.name()).put("path", component.path().toString());
        component.className().ifPresent(name -> node.put("class", name));
        component.sharedWith().ifPresent(owner -> node.put("shared_with", owner));
        node.put("parameters", component.parameters()).put("bytes", component.bytes());
        ObjectNode metadata = node.putObject("metadata");
        component.metadata().forEach(metadata::put);
        ArrayNode tensors = node.putArray("tensors");
        component.tensors().forEach(tensor -> {
            ObjectNode one = tensors.addObject().put("name", tensor.name()).put("dtype", tensor.dtype().toString())
                    .put("file", tensor.file().getFileName().toString()).put("bytes", tensor.bytes());
            ArrayNode shape = one.putArray("shape");
            for (int axis = 0; axis < tensor.shape().rank(); axis++) {
                shape.add(tensor.shape().size(axis));
            }
        });
        return node;
    }

    /** Bytes as people say them: decimal, three digits. */
    private static String size(long bytes) {
        return bytes < 1_000_000 ? String.format(Locale.ROOT, "%.1f kB", bytes / 1e3)
                : bytes < 1_000_000_000 ? String.format(Locale.ROOT, "%.1f MB", bytes / 1e6) : String.format(Locale.ROOT, "%.2f GB", bytes / 1e9);
    }
}
