package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.PreparedWeightsOptions;
import io.kinema.engine.prepared.PreparedWeights;
import io.kinema.weights.prepared.CacheLimits;
import io.kinema.weights.prepared.PreparedCache;
import io.kinema.weights.prepared.PreparedCache.EntryFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kinema prepared}: the weights that are kept in the form that products read. */
@Command(name = "prepared", sortOptions = false,
        description = "Lists the prepared weights that are kept on this machine; nothing is lost with them, they are made again.")
final class PreparedCommand implements Callable<Integer> {
    private static final int SHOWN_ID = 12;

    private final Terminal terminal;

    @Option(names = "--folder", paramLabel = "DIR", description = "Another folder than that of the user's caches, as given to --prepared-weights.")
    private Optional<Path> folder = Optional.empty();

    @Option(names = "--verify", description = "Read all of them and compare them with what was written; a broken one ends in exit code 1.")
    private boolean verify;

    @Option(names = "--clear", description = "Remove all that no process uses.")
    private boolean clear;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    PreparedCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws IOException {
        if (verify && clear) {
            throw new BadRequestException("verify", "it together with --clear", "expected one of them; what is removed need not be read");
        }
        if (folder.isPresent() && Files.exists(folder.get()) && !Files.isDirectory(folder.get())) {
            throw new BadRequestException("folder", "the file '" + folder.get() + "'", "expected a folder");
        }
        PreparedCache cache = cache(folder);
        if (clear) {
            cache.clear();
        }
        List<EntryFacts> entries = cache.entries(verify);
        if (json) {
            terminal.print(document(cache, entries).toPrettyString());
        } else {
            terminal.print(summary(cache, entries));
            entries.forEach(this::print);
        }
        return entries.stream().allMatch(entry -> entry.broken().isEmpty()) ? ExitCode.DONE : ExitCode.FAILED;
    }

    static PreparedCache cache(Optional<Path> folder) {
        return new PreparedCache(PreparedWeights.folder(new PreparedWeightsOptions(PreparedWeightsOptions.Use.ON, folder)), CacheLimits.DEFAULTS);
    }

    static String summary(PreparedCache cache, List<EntryFacts> entries) {
        long held = entries.stream().filter(EntryFacts::inUse).count();
        return entries.size() + (entries.size() == 1 ? " entry, " : " entries, ") + size(entries.stream().mapToLong(EntryFacts::bytes).sum()) + " in " + cache.folder()
                + (held == 0 ? "" : ", " + held + " in use");
    }

    private void print(EntryFacts entry) {
        terminal.print(String.format(Locale.ROOT, "%-4s %s  %-18s %10s  used %s%s", entry.broken().isPresent() ? "!!" : entry.inUse() ? "held" : "ok",
                entry.id().substring(0, SHOWN_ID), entry.label(), size(entry.bytes()), entry.used().truncatedTo(ChronoUnit.SECONDS),
                entry.broken().map(why -> "  " + Failures.oneLine(why)).orElse("")));
    }

    private static ObjectNode document(PreparedCache cache, List<EntryFacts> entries) {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("folder", cache.folder().toString());
        document.put("bytes", entries.stream().mapToLong(EntryFacts::bytes).sum());
        ArrayNode list = document.putArray("entries");
        for (EntryFacts entry : entries) {
            ObjectNode node = list.addObject().put("id", entry.id()).put("label", entry.label()).put("bytes", entry.bytes())
                    .put("used", entry.used().truncatedTo(ChronoUnit.SECONDS).toString()).put("in_use", entry.inUse());
            entry.broken().ifPresent(why -> node.put("broken", why));
        }
        return document;
    }

    private static String size(long bytes) {
        return bytes < 1_000_000_000 ? String.format(Locale.ROOT, "%.1f MB", bytes / 1e6) : String.format(Locale.ROOT, "%.1f GB", bytes / 1e9);
    }
}
