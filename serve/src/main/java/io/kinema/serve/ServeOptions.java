package io.kinema.serve;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.forecast.Rates;
import io.kinema.serve.body.BodyLimits;
import io.kinema.serve.fetch.FetchPolicy;
import io.kinema.serve.http.AccessKeys;
import io.kinema.serve.http.HostNames;
import io.kinema.serve.problem.FailureLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * How the server runs. Made with {@link #on}.
 *
 * @param host        what to listen on
 * @param port        0 for any free one
 * @param keys        who may call
 * @param hostNames   further names by which the server may be called
 * @param staging     folder for uploads while they come in; servers may share it; emptied by one that starts while it is the only one
 * @param files       root of files that clients may name by path; none when empty
 * @param adapters    those that clients may name
 * @param bodies      how much a request may hold
 * @param fetching    what may be fetched
 * @param rates       what this machine measured before
 * @param longestSync how long a call may wait for its video
 * @param connections most connections at once
 * @param eventStreams most streams of events at once
 * @param patience    how long a connection may do nothing
 * @param stopWithin  how long requests that are being answered may take once the server stops
 * @param log         hears failures
 */
public record ServeOptions(String host, int port, AccessKeys keys, Set<String> hostNames, Path staging, Optional<Path> files,
                           Map<String, AdapterUse> adapters, BodyLimits bodies, FetchPolicy fetching, Supplier<Rates> rates, Duration longestSync,
                           int connections, int eventStreams, Duration patience, Duration stopWithin, FailureLog log) {
    private static final int LAST_PORT = 65535;

    /** @throws IllegalArgumentException when the port is none, or others could reach a server without keys */
    public ServeOptions {
        Objects.requireNonNull(keys, "keys");
        hostNames = Set.copyOf(hostNames);
        Objects.requireNonNull(staging, "staging");
        Objects.requireNonNull(files, "files");
        adapters = Map.copyOf(adapters);
        if (port < 0 || port > LAST_PORT) {
            throw new IllegalArgumentException("port: got " + port + ", expected 0 to " + LAST_PORT);
        }
        if (keys.open() && !HostNames.isLoopback(host)) {
            throw new IllegalArgumentException("host: got '" + host + "', which others can reach, without a token; give --token-file, or listen on 127.0.0.1");
        }
    }

    /** Everything by default: no keys, no server-side files, public references, 512 connections, 64 streams, 30 s, 15 minutes for a sync call. */
    public static ServeOptions on(String host, int port, Path staging) {
        return on(AccessKeys.none(), host, port, staging);
    }

    /** {@link #on(String, int, Path)} for whoever has a key. */
    public static ServeOptions on(AccessKeys keys, String host, int port, Path staging) {
        return new ServeOptions(host, port, keys, Set.of(), staging, Optional.empty(), Map.of(), BodyLimits.defaults(),
                FetchPolicy.onlyPublic(Set.of()), () -> Rates.NONE, Duration.ofMinutes(15), 512, 64, Duration.ofSeconds(30), Duration.ofSeconds(5), FailureLog.NONE);
    }

    public ServeOptions keys(AccessKeys value) {
        return new ServeOptions(host, port, value, hostNames, staging, files, adapters, bodies, fetching, rates, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions hostNames(Set<String> value) {
        return new ServeOptions(host, port, keys, value, staging, files, adapters, bodies, fetching, rates, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions files(Optional<Path> value) {
        return new ServeOptions(host, port, keys, hostNames, staging, value, adapters, bodies, fetching, rates, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions adapters(Map<String, AdapterUse> value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, value, bodies, fetching, rates, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions bodies(BodyLimits value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, adapters, value, fetching, rates, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions fetching(FetchPolicy value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, adapters, bodies, value, rates, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions rates(Supplier<Rates> value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, adapters, bodies, fetching, value, longestSync, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions patience(Duration value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, adapters, bodies, fetching, rates, longestSync, connections, eventStreams,
                value, stopWithin, log);
    }

    public ServeOptions longestSync(Duration value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, adapters, bodies, fetching, rates, value, connections, eventStreams,
                patience, stopWithin, log);
    }

    public ServeOptions log(FailureLog value) {
        return new ServeOptions(host, port, keys, hostNames, staging, files, adapters, bodies, fetching, rates, longestSync, connections, eventStreams,
                patience, stopWithin, value);
    }
}
