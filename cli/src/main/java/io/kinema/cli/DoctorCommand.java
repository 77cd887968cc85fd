package io.kinema.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.model.BundledModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kinema doctor}: what Kinema found on this machine, what is missing and how to get it. */
@Command(name = "doctor",
        description = "Shows what Kinema found on this machine, what is missing and how to get it.")
final class DoctorCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Option(names = "--model", paramLabel = "DIR", description = "Model folder to look at (default: the bundled models/h3-nano).")
    private Optional<Path> model = Optional.empty();

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    DoctorCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        List<Finding> findings = Stream.of(MachineFacts.findings(), LibraryFacts.findings(model.orElseGet(BundledModel::folder)), DeviceFacts.findings()).flatMap(List::stream).toList();
        if (json) {
            terminal.print(document(findings).toPrettyString());
        } else {
            findings.forEach(this::print);
        }
        return findings.stream().allMatch(finding -> finding.advice().isEmpty()) ? ExitCode.DONE : ExitCode.FAILED;
    }

    private void print(Finding finding) {
        terminal.print(String.format(Locale.ROOT, "%-4s %-14s %s", finding.advice().isEmpty() ? "ok" : "!!", finding.label(), finding.value()));
        finding.advice().ifPresent(advice -> terminal.print(" ".repeat(20) + advice));
    }

    private static ObjectNode document(List<Finding> findings) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("kinema", Version.text());
        for (Finding finding : findings) {
            ObjectNode node = document.putObject(finding.key());
            node.put("value", finding.value());
            node.put("ok", finding.advice().isEmpty());
            finding.advice().ifPresent(advice -> node.put("advice", advice));
        }
        return document;
    }
}
