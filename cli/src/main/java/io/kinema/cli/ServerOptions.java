package io.kinema.cli;

import io.kinema.engine.AdapterUse;
import io.kinema.jobs.JobLimits;
import io.kinema.serve.ServeOptions;
import io.kinema.serve.fetch.FetchPolicy;
import io.kinema.serve.http.AccessKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Option;

/** The options that say who may reach the server and what it offers. */
final class ServerOptions {
    private static final int MOST_TOKEN_BYTES = 1 << 16;
    private static final String STAGING = "staging";

    @Option(names = "--host", paramLabel = "HOST", description = "Address to listen on (default: 127.0.0.1, this machine only). Any other needs a token.")
    private String host = "127.0.0.1";

    @Option(names = "--port", paramLabel = "PORT", description = "Port to listen on (default: 8000); 0 takes any free one.")
    private int port = 8000;

    @Option(names = "--token", paramLabel = "TOKEN", description = "Bearer token that clients must send. Other users of this machine can see it here; "
            + "KINEMA_TOKEN or --token-file hide it.")
    private Optional<String> token = Optional.empty();

    @Option(names = "--token-file", paramLabel = "FILE", description = "Tokens, one a line, TOKEN or NAME=TOKEN: each sees its own videos only. Also KINEMA_TOKEN_FILE.")
    private Optional<Path> tokenFile = Optional.empty();

    @Option(names = "--allow-host", paramLabel = "NAME", description = "Another name by which clients call this server, such as a proxy's; may be repeated.")
    private List<String> names = List.of();

    @Option(names = "--reference-host", paramLabel = "NAME", description = "Fetch references from this host only; may be repeated (default: any public one).")
    private List<String> referenceHosts = List.of();

    @Option(names = "--files", paramLabel = "DIR", description = "Let clients name files below this folder by path (default: none).")
    private Optional<Path> files = Optional.empty();

    @Option(names = "--adapter", paramLabel = "NAME=FILE[:SCALE]", description = "Offer an adapter to clients by a name; may be repeated.")
    private List<String> adapters = List.of();

    @Option(names = "--max-queue", paramLabel = "N", description = "Most videos that wait; more are answered with 429 (default: 32).")
    private int maxQueue = JobLimits.defaults().queued();

    @Option(names = "--max-queue-per-key", paramLabel = "N", description = "Most videos of one token that wait (default: as --max-queue).")
    private Optional<Integer> maxQueuePerKey = Optional.empty();

    @Option(names = "--keep", paramLabel = "HOURS", description = "How long finished videos stay (default: 168).")
    private long keepHours = JobLimits.defaults().keep().toHours();

    /** @throws IllegalArgumentException when a number is none that a queue can have */
    JobLimits limits() {
        requireAboveZero("--max-queue", maxQueue);
        maxQueuePerKey.ifPresent(most -> requireAboveZero("--max-queue-per-key", most));
        requireAboveZero("--keep", keepHours);
        return new JobLimits(maxQueue, maxQueuePerKey.orElse(maxQueue), Duration.ofHours(keepHours));
    }

    private static void requireAboveZero(String option, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(option + ": got " + value + ", expected a number above 0");
        }
    }

    private static Set<String> named(String option, List<String> hosts) {
        if (hosts.stream().anyMatch(String::isBlank)) {
            throw new IllegalArgumentException(option + ": got '', expected the name of a host");
        }
        return Set.copyOf(hosts);
    }

    /**
     * What the server is told.
     *
     * @param data        folder of this process
     * @param environment of this process
     * @throws IllegalArgumentException when an option has a value that no server could have
     */
    ServeOptions serve(Path data, Map<String, String> environment) {
        return ServeOptions.on(keys(environment), host, port, data.resolve(STAGING)).hostNames(named("--allow-host", names)).files(files.map(ServerOptions::folder))
                .adapters(adapters()).fetching(FetchPolicy.onlyPublic(named("--reference-host", referenceHosts))).rates(MachineRates::read);
    }

    /** How a client on this machine reaches the server. */
    String address(int boundPort) {
        String name = host.equals("0.0.0.0") || host.equals("::") ? "127.0.0.1" : host.indexOf(':') >= 0 ? "[" + host + "]" : host;
        return "http://" + name + ":" + boundPort;
    }

    private AccessKeys keys(Map<String, String> environment) {
        Optional<Path> file = tokenFile.or(() -> Optional.ofNullable(environment.get("KINEMA_TOKEN_FILE")).map(Path::of));
        Optional<String> word = token.or(() -> Optional.ofNullable(environment.get("KINEMA_TOKEN")));
        if (token.isPresent() && tokenFile.isPresent()) {
            throw new IllegalArgumentException("--token: got --token and --token-file, expected one of them");
        }
        // An option is stronger than the environment, whichever of the two ways it names.
        if (token.isEmpty() && file.isPresent()) {
            return AccessKeys.parse(read(file.get()));
        }
        return word.map(AccessKeys::parse).orElseGet(AccessKeys::none);
    }

    private static String read(Path file) {
        try {
            if (Files.size(file) > MOST_TOKEN_BYTES) {
                throw new IllegalArgumentException("--token-file: got " + Files.size(file) + " bytes, expected at most " + MOST_TOKEN_BYTES);
            }
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalArgumentException("--token-file: '" + file + "' cannot be read, expected a text file with a token on each line", e);
        }
    }

    private static Path folder(Path given) {
        if (!Files.isDirectory(given)) {
            throw new IllegalArgumentException("--files: got '" + given + "', expected a folder");
        }
        return given.toAbsolutePath();
    }

    private Map<String, AdapterUse> adapters() {
        Map<String, AdapterUse> offered = new LinkedHashMap<>();
        for (String text : adapters) {
            int equals = text.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("--adapter: got '" + text + "', expected NAME=FILE[:SCALE]");
            }
            AdapterUse use = AdapterUse.parse(text.substring(equals + 1));
            Path file = use.file().toAbsolutePath();
            if (!Files.isRegularFile(file)) {
                throw new IllegalArgumentException("--adapter: got '" + text + "', which is no file, expected NAME=FILE[:SCALE]");
            }
            offered.put(text.substring(0, equals), new AdapterUse(file, use.scale(), use.alpha()));
        }
        return offered;
    }
}
