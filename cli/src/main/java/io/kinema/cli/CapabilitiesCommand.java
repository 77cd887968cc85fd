package io.kinema.cli;

import io.kinema.measure.capability.Capabilities;
import io.kinema.measure.capability.Capability;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kinema capabilities}: what this installation can run. */
@Command(name = "capabilities", description = "Shows what this installation can run, yes or no, each with the reason; opens no device and loads no model.")
final class CapabilitiesCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Option(names = "--json", description = "Print one JSON document, for front ends.")
    private boolean json;

    CapabilitiesCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Capabilities capabilities = Capabilities.here();
        if (json) {
            terminal.print(capabilities.toJson().toPrettyString());
        } else {
            capabilities.all().forEach(this::print);
        }
        return ExitCode.DONE;
    }

    private void print(Capability one) {
        terminal.print(String.format(Locale.ROOT, "%-4s %-18s %-26s %s", one.available() ? "yes" : "no", one.group(), one.name(), Failures.oneLine(one.reason())));
    }
}
