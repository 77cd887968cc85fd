package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.measure.qualify.Ledger;
import java.util.Locale;

/** Prints what stands in a ledger, for {@code kinema qualify --list}. */
final class LedgerPrinter {
    private final Terminal terminal;
    private final boolean json;

    LedgerPrinter(Terminal terminal, boolean json) {
        this.terminal = terminal;
        this.json = json;
    }

    /** Exit code 1 when the ledger is damaged. */
    int print(Ledger ledger) {
        Ledger.Contents contents = ledger.read();
        if (json) {
            ObjectNode document = JsonNodeFactory.instance.objectNode().put("file", ledger.file().toString());
            ArrayNode entries = document.putArray("entries");
            contents.entries().forEach(entries::add);
            ArrayNode problems = document.putArray("problems");
            contents.problems().forEach(problems::add);
            terminal.print(document.toPrettyString());
        } else {
            contents.entries().forEach(this::print);
            contents.problems().forEach(problem -> terminal.print("!! " + problem));
            terminal.print(contents.entries().size() + " entries in " + ledger.file());
        }
        return contents.problems().isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
    }

    private void print(ObjectNode entry) {
        ObjectNode shape = (ObjectNode) entry.path("shape");
        String speed = entry.path("speed_up").isNumber() ? String.format(Locale.ROOT, ", %.2f times as fast", entry.path("speed_up").asDouble()) : "";
        terminal.print(String.format(Locale.ROOT, "%s  %-11s  %s  %sx%s, %s frames, %s evaluations, %s: %s%s", entry.path("sha256").asText().substring(0, 12), entry.path("verdict").asText(),
                entry.path("created").asText(), shape.path("width").asText(), shape.path("height").asText(), shape.path("frames").asText(),
                shape.path("steps").asText(), shape.path("task").asText(), Failures.oneLine(entry.path("candidate").path("options").toString()), speed));
    }
}
