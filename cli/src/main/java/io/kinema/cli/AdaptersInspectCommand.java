package io.kinema.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.inspect.AdapterInspector;
import io.kinema.engine.record.ResolvedRequestJson;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.Partition;
import io.kinema.model.adapter.SamplingContract;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema adapters inspect}: what an adapter is and how it wants to be sampled. */
@Command(name = "inspect", sortOptions = false, description = "Says what an adapter is, what it reaches and how it must be sampled.")
final class AdaptersInspectCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "FILE", description = "An adapter, safetensors.")
    private Path file;

    @Option(names = "--model", paramLabel = "DIR", description = "Model it must fit (default: the released H3, or the bundled model).")
    private Optional<Path> model = Optional.empty();

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    AdaptersInspectCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Adapter adapter = AdapterInspector.inspect(file, model);
        terminal.print(json ? document(adapter).toPrettyString() : text(adapter));
        return ExitCode.DONE;
    }

    private static String text(Adapter adapter) {
        StringBuilder out = new StringBuilder();
        line(out, "%s", adapter.name());
        line(out, "  sha256      %s", adapter.sha256());
        line(out, "  artefact    %s, recognised by %s", adapter.recognition().artefact(), adapter.recognition().by());
        line(out, "  keys        %s", adapter.keyStyle());
        line(out, "  matched     %d of %d tensors: %d low-rank modules of rank up to %d, %d whole-weight edits", adapter.tensors(), adapter.tensors(),
                adapter.modules(), adapter.rank(), adapter.edits().size());
        line(out, "  alpha       %s", alpha(adapter));
        line(out, "  transformer %s", adapter.partition().map(Partition::label).orElse("not stated"));
        line(out, "  applied     %s", adapter.fused() ? "fused into the weights before they are loaded" : "at run time, at any scale");
        line(out, "  contract    %s", adapter.contract().map(AdaptersInspectCommand::contract)
                .orElse("unknown; a request must state --steps, --flow-shift and --audio-flow-shift"));
        return out.toString().stripTrailing();
    }

    private static String alpha(Adapter adapter) {
        return switch (adapter.alpha().from()) {
            case FILE -> adapter.alpha().value() + ", by the file";
            case KNOWN -> adapter.alpha().value() + ", as published";
            case CALLER -> "not stated; a request must state --adapter-alpha";
        };
    }

    private static String contract(SamplingContract contract) {
        return String.format(Locale.ROOT, "%d model evaluations at levels %s, flow shift %s, audio flow shift %s, for %s", contract.evaluations(),
                contract.schedule().stream().map(String::valueOf).collect(Collectors.joining(" ")), contract.videoShift(), contract.audioShift(),
                String.join(" and ", contract.tasks()));
    }

    private static ObjectNode document(Adapter adapter) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("file", adapter.name()).put("sha256", adapter.sha256())
                .put("artefact", adapter.recognition().artefact()).put("recognised_by", adapter.recognition().by()).put("keys", adapter.keyStyle())
                .put("tensors", adapter.tensors()).put("modules", adapter.modules()).put("edits", adapter.edits().size())
                .put("rank", adapter.rank()).put("fused", adapter.fused());
        if (adapter.alpha().from() == Adapter.AlphaUsed.Source.CALLER) {
            node.putNull("alpha");
        } else {
            node.put("alpha", adapter.alpha().value());
        }
        adapter.partition().ifPresent(p -> node.put("transformer", p.label()));
        adapter.contract().ifPresent(c -> node.set("contract", ResolvedRequestJson.contract(c)));
        return node;
    }

    private static void line(StringBuilder out, String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }
}
