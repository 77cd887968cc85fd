package io.kinema.weights.prepared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Prepared weights in a folder that processes share. Holds nothing open itself: entries and writers do, until they are closed. Any
 * number of processes may use one folder at once, and any of them may be killed at any moment: an entry is then whole or absent, and
 * what was left is removed by the next that builds. Safe for use by several threads.
 */
public final class PreparedCache {
    private static final long POLL_MILLIS = 50;
    /** Longer than another needs to read a large entry and find it damaged, too. */
    private static final Duration DAMAGED_PATIENCE = Duration.ofMinutes(1);
    /** Longer than another needs to see that nothing is there. */
    private static final Duration ABSENT_PATIENCE = Duration.ofSeconds(5);
    private static final String ABSENT = "it is not there any more";

    private final Path folder;
    private final CacheLimits limits;
    private final DiskSteps disk;

    /** @param folder created by the first that writes there */
    public PreparedCache(Path folder, CacheLimits limits) {
        this(folder, limits, DiskSteps.unwatched());
    }

    PreparedCache(Path folder, CacheLimits limits, DiskSteps disk) {
        this.folder = folder;
        this.limits = limits;
        this.disk = disk;
    }

    /** What {@link #look} found. */
    public sealed interface Lookup {
        /** It is there and whole. @param entry to be closed by the caller */
        record Found(HeldEntry entry) implements Lookup {
        }

        /**
         * It is not there, and the caller may build it.
         *
         * @param writer  to be closed by the caller; others that want the entry wait for that
         * @param instead what was there and could not be used; empty for nothing
         */
        record Missing(EntryWriter writer, Optional<String> instead) implements Lookup {
        }

        /** The caller goes on without. @param why for a person, in one line */
        record Unusable(String why) implements Lookup {
        }
    }

    /**
     * What a caller waits for.
     *
     * @param since  for so long already
     * @param most   and for no longer than this
     * @param unfit  why what is there cannot be used, where somebody holds it and nobody builds it; empty where somebody does
     */
    public record Wait(Duration since, Duration most, Optional<String> unfit) {
    }

    /** Hears that the caller waits, each time it is looked again. */
    @FunctionalInterface
    public interface Waiting {
        /** May throw what ends the waiting. */
        void waiting(Wait wait);
    }

    /** Where it lies. */
    public Path folder() {
        return folder;
    }

    /**
     * Looks for an entry, checks it, and otherwise lets the caller build it.
     *
     * @param patience how long to wait for another that builds it; for one that holds what cannot be used, at most a minute, and what is gone, some seconds
     */
    public Lookup look(PreparedKey key, Duration patience, Waiting waiting) {
        try {
            CacheLayout layout = CacheLayout.at(folder);
            Duration most = patience;
            Optional<String> unfit = Optional.empty();
            long start = System.nanoTime();
            while (true) {
                Attempt attempt = attempt(layout, key, unfit);
                if (attempt instanceof Attempt.Answered(Lookup lookup)) {
                    return lookup;
                }
                Optional<String> now = attempt instanceof Attempt.Held(String why) ? Optional.of(why) : Optional.empty();
                boolean changed = now.isPresent() != unfit.isPresent();
                if (changed) {
                    most = now.map(why -> why.equals(ABSENT) ? ABSENT_PATIENCE : DAMAGED_PATIENCE).filter(held -> held.compareTo(patience) < 0).orElse(patience);
                    start = System.nanoTime();
                }
                unfit = now;
                Duration since = Duration.ofNanos(System.nanoTime() - start);
                if (since.compareTo(most) > 0) {
                    return new Lookup.Unusable(unfit.map(why -> why + ", and somebody has held " + layout.entry(key.id()))
                            .orElse("another process has held " + layout.entry(key.id())) + " for " + most.toSeconds() + " s");
                }
                // Two that begin at once see each other look for a moment.
                if (!changed || unfit.isEmpty()) {
                    waiting.waiting(new Wait(since, most, unfit));
                }
                Pause.millis(POLL_MILLIS);
            }
        } catch (IOException e) {
            return new Lookup.Unusable(folder + " cannot be used (" + e.getClass().getSimpleName() + ": " + e.getMessage() + ")");
        }
    }

    /** What came of one look. */
    private sealed interface Attempt {
        record Answered(Lookup lookup) implements Attempt {
        }

        /** Somebody builds it. */
        record Building() implements Attempt {
        }

        /** Nobody builds it, and somebody holds what cannot be used: an engine that mapped it before it was damaged, or one that looks, too. */
        record Held(String why) implements Attempt {
        }
    }

    /** @param unfit what an earlier look found, which is not looked at again while others hold it */
    private Attempt attempt(CacheLayout layout, PreparedKey key, Optional<String> unfit) throws IOException {
        Optional<RangeLock> shared = RangeLock.tryLock(layout.locks(), CacheLayout.position(key.id()), true);
        if (shared.isEmpty()) {
            return new Attempt.Building();
        }
        String why;
        try (Keeper keeper = new Keeper(shared.get())) {
            EntryCheck.Verdict verdict = unfit.isPresent() ? new EntryCheck.Verdict.Broken(unfit.get())
                    : EntryCheck.of(layout.entry(key.id()), Optional.of(key), EntryCheck.Content.WHEN_CHANGED);
            if (verdict instanceof EntryCheck.Verdict.Whole whole) {
                used(layout, key.id(), whole);
                keeper.kept();
                return new Attempt.Answered(new Lookup.Found(new HeldEntry(layout.entry(key.id()), whole.manifest(), shared.get())));
            }
            why = verdict instanceof EntryCheck.Verdict.Broken(String broken) ? broken : ABSENT;
        }
        return missing(layout, key, why);
    }

    private Attempt missing(CacheLayout layout, PreparedKey key, String why) throws IOException {
        Optional<RangeLock> exclusive = RangeLock.tryLock(layout.locks(), CacheLayout.position(key.id()), false);
        if (exclusive.isEmpty()) {
            return new Attempt.Held(why);
        }
        try (Keeper keeper = new Keeper(exclusive.get())) {
            // Another may have built it between the two locks.
            EntryCheck.Verdict verdict = EntryCheck.of(layout.entry(key.id()), Optional.of(key), EntryCheck.Content.WHEN_CHANGED);
            if (verdict instanceof EntryCheck.Verdict.Whole) {
                return new Attempt.Building();
            }
            CacheRoom room = new CacheRoom(layout, limits, disk);
            room.discard(layout.entry(key.id()));
            room.discard(layout.building(key.id()));
            room.removeLeftovers(key.id());
            EntryWriter writer = new EntryWriter(layout, room, disk, key, exclusive.get());
            keeper.kept();
            return new Attempt.Answered(new Lookup.Missing(writer, verdict instanceof EntryCheck.Verdict.Broken(String broken) ? Optional.of(broken) : Optional.empty()));
        }
    }

    /** Notes the use, and as what file the content was compared. Where it cannot be noted, it is compared again next time. */
    private void used(CacheLayout layout, String id, EntryCheck.Verdict.Whole whole) {
        Path ready = layout.entry(id).resolve(CacheLayout.READY);
        try {
            if (whole.compared().isPresent()) {
                disk.writeWhole(ready, whole.compared().get().toBytes());
            } else {
                Files.setLastModifiedTime(ready, FileTime.from(Instant.now()));
            }
        } catch (IOException readOnly) {
            return;
        }
    }

    /**
     * One entry of the folder.
     *
     * @param label   what the weights are; the id where the entry does not say
     * @param bytes   of weights
     * @param used    when it was last opened
     * @param inUse   whether a process holds it
     * @param broken  what is wrong with it; empty for a whole one
     */
    public record EntryFacts(String id, String label, long bytes, Instant used, boolean inUse, Optional<String> broken) {
    }

    /**
     * What the folder holds; nothing is changed.
     *
     * @param wholly compare the content of every entry too, which reads all of it
     * @throws IOException when the folder cannot be read
     */
    public List<EntryFacts> entries(boolean wholly) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        CacheLayout layout = new CacheLayout(folder.toRealPath());
        List<EntryFacts> facts = new ArrayList<>();
        for (String id : layout.entries()) {
            facts.add(facts(layout, id, wholly));
        }
        return facts;
    }

    private static EntryFacts facts(CacheLayout layout, String id, boolean wholly) throws IOException {
        Optional<RangeLock> exclusive = RangeLock.tryLock(layout.locks(), CacheLayout.position(id), false);
        exclusive.ifPresent(RangeLock::close);
        EntryCheck.Verdict verdict = EntryCheck.of(layout.entry(id), Optional.empty(), wholly ? EntryCheck.Content.ALWAYS : EntryCheck.Content.UNREAD);
        String label = verdict instanceof EntryCheck.Verdict.Whole whole ? PreparedKey.label(whole.manifest().key()).orElse(id) : id;
        return new EntryFacts(id, label, CacheLayout.size(layout.entry(id).resolve(CacheLayout.WEIGHTS)), CacheRoom.lastUse(layout, id).toInstant(),
                exclusive.isEmpty(), verdict instanceof EntryCheck.Verdict.Broken(String why) ? Optional.of(why) : Optional.empty());
    }

    /**
     * Removes all entries that nobody holds, and what dead processes left.
     *
     * @return how many entries were left because somebody holds them
     * @throws IOException when the folder cannot be changed
     */
    public int clear() throws IOException {
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        CacheLayout layout = new CacheLayout(folder.toRealPath());
        CacheRoom room = new CacheRoom(layout, limits, disk);
        room.removeLeftovers("");
        int held = 0;
        for (String id : layout.entries()) {
            held += room.evict(id) ? 0 : 1;
        }
        return held;
    }
}
