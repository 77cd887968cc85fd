package io.kinema.engine.prepared;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.PreparedWeightsOptions;
import io.kinema.engine.PreparedWeightsOptions.Use;
import io.kinema.engine.Progress;
import io.kinema.engine.Stage;
import io.kinema.engine.pipeline.Clock;
import io.kinema.engine.record.EngineVersion;
import io.kinema.media.file.CacheFolder;
import io.kinema.model.load.KeptTensors;
import io.kinema.model.load.ReusedTensors;
import io.kinema.weights.TensorSource;
import io.kinema.weights.prepared.CacheLimits;
import io.kinema.weights.prepared.EntryWriter;
import io.kinema.weights.prepared.HeldEntry;
import io.kinema.weights.prepared.PreparedCache;
import io.kinema.weights.prepared.PreparedCache.Lookup;
import io.kinema.weights.prepared.PreparedEntry;
import io.kinema.weights.prepared.PreparedKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Owns the prepared weights that an engine uses until it is closed, and keeps them from being evicted. What cannot be kept (a full disk,
 * a folder that cannot be written, another process that takes too long) is said, and the request goes on without. Closing twice is
 * harmless; networks over these weights must be closed before. Used by one thread.
 */
public final class PreparedWeights implements AutoCloseable {
    /** Below it a network's weights are converted as fast as a person notices. */
    private static final long WORTH_KEEPING = 1L << 30;
    /** What {@link Use#AUTO} takes of the free disk: one part of so many. */
    private static final int SHARE = 4;
    /** Longer than preparing the largest network takes. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final PreparedWeightsOptions options;
    private final PreparedCache cache;
    private final Duration patience;
    private final Map<Object, PreparedEntry> entries = new HashMap<>();
    /** Looked at before, whatever came of it: one request's note is enough. */
    private final Set<Object> settled = new HashSet<>();
    private final SortedMap<String, String> outcomes = new TreeMap<>();

    public PreparedWeights(PreparedWeightsOptions options) {
        this(options, CacheLimits.DEFAULTS, PATIENCE);
    }

    /** @param patience how long to wait for another process that prepares the same weights */
    PreparedWeights(PreparedWeightsOptions options, CacheLimits limits, Duration patience) {
        this.options = options;
        this.cache = new PreparedCache(folder(options), limits);
        this.patience = patience;
    }

    /** None are kept and none are looked for. */
    public static PreparedWeights off() {
        return new PreparedWeights(new PreparedWeightsOptions(Use.OFF, Optional.empty()));
    }

    /** Where the options put them. */
    public static Path folder(PreparedWeightsOptions options) {
        return options.folder().orElseGet(() -> CacheFolder.ofUser().resolve("prepared-weights"));
    }

    /** What became of each network's weights: {@code reused}, {@code prepared}, or why neither. Empty for those that need nothing. */
    public SortedMap<String, String> outcomes() {
        return new TreeMap<>(outcomes);
    }

    /** The weights with what is prepared of them. */
    public TensorSource over(Object key, TensorSource weights) {
        PreparedEntry entry = entries.get(key);
        return entry == null ? weights : new ReusedTensors(weights, entry);
    }

    /** Finds or prepares the weights of these networks, each once in this engine's life. @param backend of the engine */
    public void prepare(List<NetworkOpening> networks, Backend backend, Clock clock) {
        List<NetworkOpening> open = networks.stream().filter(network -> worthALook(network) && !settled.contains(network.key())).toList();
        if (open.isEmpty()) {
            return;
        }
        List<Whole> whole = new ArrayList<>();
        List<Building> missing = new ArrayList<>();
        try {
            clock.stage(Stage.CHECKING_PREPARED_WEIGHTS, () -> look(open, whole, missing, clock));
            if (!whole.isEmpty()) {
                clock.stage(Stage.REUSING_PREPARED_WEIGHTS, () -> {
                    whole.forEach(found -> map(found, clock));
                    return whole.size();
                });
            }
            if (!missing.isEmpty()) {
                clock.tell(new Progress.Message("preparing weights once (" + missing.stream().map(building -> building.network().label()).collect(Collectors.joining(", "))
                        + "), at most " + size(missing.stream().mapToLong(Building::most).sum()) + " in " + cache.folder() + "; --prepared-weights off goes without"));
                clock.stage(Stage.PREPARING_WEIGHTS, () -> {
                    missing.forEach(building -> build(building, backend, clock));
                    return missing.size();
                });
            }
        } finally {
            whole.forEach(found -> found.entry().close());
            missing.forEach(building -> building.writer().close());
        }
    }

    private record Whole(NetworkOpening network, HeldEntry entry) {
    }

    private record Building(NetworkOpening network, TensorSource weights, EntryWriter writer, long most) {
    }

    private boolean worthALook(NetworkOpening network) {
        return switch (options.use()) {
            case OFF -> false;
            case ON -> true;
            case AUTO -> PreparedSizes.fileBytes(network.files()) >= WORTH_KEEPING;
        };
    }

    private void map(Whole found, Clock clock) {
        try {
            take(found.network(), found.entry().map(), "reused");
        } catch (IOException e) {
            without(found.network(), "they cannot be mapped (" + e.getMessage() + ")", clock);
        }
    }

    /** @return how many were looked for */
    private int look(List<NetworkOpening> networks, List<Whole> whole, List<Building> missing, Clock clock) {
        for (NetworkOpening network : networks) {
            TensorSource weights = network.weights().get();
            long most = PreparedSizes.most(weights, network.form());
            Optional<Set<Path>> files = PreparedSizes.files(weights);
            if (most == 0 || files.isEmpty()) {
                settled.add(network.key());
                continue;
            }
            switch (look(network, files.get(), clock)) {
                case Lookup.Found(HeldEntry entry) -> whole.add(new Whole(network, entry));
                case Lookup.Missing(EntryWriter writer, Optional<String> instead) -> {
                    instead.ifPresent(why -> clock.tell(new Progress.Message("prepared weights of " + network.label() + " are made anew: " + why)));
                    if (mayTake(most, network, clock)) {
                        missing.add(new Building(network, weights, writer, most));
                    } else {
                        writer.close();
                    }
                }
                case Lookup.Unusable(String why) -> without(network, why, clock);
            }
        }
        return networks.size();
    }

    private Lookup look(NetworkOpening network, Set<Path> files, Clock clock) {
        Map<String, String> facts = new TreeMap<>(network.facts());
        facts.put("engine", EngineVersion.VERSION);
        facts.put("ranks", "" + network.ranks());
        boolean[] told = new boolean[1];
        try {
            return cache.look(PreparedKey.of(network.label(), facts, files), patience, wait -> {
                clock.check(Stage.CHECKING_PREPARED_WEIGHTS);
                if (!told[0]) {
                    told[0] = true;
                    clock.tell(new Progress.Message(wait.unfit().map(why -> "prepared weights of " + network.label() + " cannot be used (" + why + ") and are held by somebody")
                            .orElse("another process prepares the weights of " + network.label()) + "; waiting up to " + wait.most().toSeconds() + " s for it"));
                }
            });
        } catch (IOException e) {
            return new Lookup.Unusable("the weights' files cannot be read (" + e.getMessage() + ")");
        }
    }

    private boolean mayTake(long most, NetworkOpening network, Clock clock) {
        if (options.use() == Use.AUTO) {
            long free = free();
            if (most > free / SHARE) {
                without(network, "they may take " + size(most) + " and " + size(free) + " are free in " + cache.folder()
                        + "; --prepared-weights on takes them, or a folder on another disk", clock);
                return false;
            }
        }
        return true;
    }

    private long free() {
        try {
            return Files.getFileStore(cache.folder()).getUsableSpace();
        } catch (IOException unknown) {
            return 0;
        }
    }

    private void build(Building building, Backend backend, Clock clock) {
        clock.check(Stage.PREPARING_WEIGHTS);
        NetworkOpening network = building.network();
        try {
            open(building, backend, clock);
            if (building.writer().tensors() == 0) {
                settled.add(network.key());
            } else {
                building.writer().publish().ifPresentOrElse(entry -> take(network, entry, "prepared"),
                        () -> without(network, "another process removed them in the moment they were finished", clock));
            }
        } catch (UncheckedIOException e) {
            without(network, e.getCause().getMessage(), clock);
        } finally {
            building.writer().close();
        }
    }

    /** Opens the network of each rank once: what it asks for is written, and what another asked for is there. */
    private static void open(Building building, Backend backend, Clock clock) {
        Backend host = backend.device().kind() == Device.Kind.CPU ? backend : CpuBackend.open(Runtime.getRuntime().availableProcessors());
        try (KeptTensors kept = new KeptTensors(building.weights(), building.writer(), host, () -> clock.check(Stage.PREPARING_WEIGHTS))) {
            NetworkOpening network = building.network();
            for (int rank = 0; rank < network.ranks(); rank++) {
                network.open().open(host, kept, network.ranks() == 1 ? Communicator.ALONE : new RankToBe(rank, network.ranks())).close();
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("closing " + building.network().label() + ": " + e.getMessage(), e);
        } finally {
            if (host != backend) {
                host.close();
            }
        }
    }

    private void take(NetworkOpening network, PreparedEntry entry, String how) {
        settled.add(network.key());
        entries.put(network.key(), entry);
        outcomes.put(network.label(), how + " " + entry.bytes() + " bytes");
    }

    private void without(NetworkOpening network, String why, Clock clock) {
        settled.add(network.key());
        outcomes.put(network.label(), "not kept");
        clock.tell(new Progress.Message("prepared weights of " + network.label() + " are not kept: " + why));
    }

    private static String size(long bytes) {
        return bytes < 1_000_000_000 ? String.format(Locale.ROOT, "%.1f MB", bytes / 1e6) : String.format(Locale.ROOT, "%.1f GB", bytes / 1e9);
    }

    @Override
    public void close() {
        entries.values().forEach(PreparedEntry::close);
        entries.clear();
    }
}
