package io.kinema.weights.prepared;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Keeps a cache within its limits: removes what builders left that died, then the entries that were not used for longest. What somebody
 * holds is never removed.
 */
final class CacheRoom {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long POLL_MILLIS = 20;

    private final CacheLayout layout;
    private final CacheLimits limits;
    private final DiskSteps disk;

    CacheRoom(CacheLayout layout, CacheLimits limits, DiskSteps disk) {
        this.layout = layout;
        this.limits = limits;
        this.disk = disk;
    }

    /**
     * Makes room for more bytes of an entry being built.
     *
     * @throws IOException when the limits do not allow them even when all that nobody holds is gone
     */
    void require(long bytes, String building) throws IOException {
        if (fits(bytes)) {
            return;
        }
        try (RangeLock _ = alone()) {
            removeLeftovers(building);
            for (String id : byLastUse()) {
                if (fits(bytes)) {
                    return;
                }
                evict(id);
            }
            if (!fits(bytes)) {
                throw new IOException("no room for " + bytes + " bytes more in " + layout.root() + ": entries hold " + layout.bytes() + " of at most "
                        + limits.mostBytes() + ", " + usable() + " are free of which " + limits.keepFree() + " stay free");
            }
        }
    }

    /** Removes an entry. @return false when somebody holds it */
    boolean evict(String id) throws IOException {
        Optional<RangeLock> exclusive = RangeLock.tryLock(layout.locks(), CacheLayout.position(id), false);
        if (exclusive.isEmpty()) {
            return false;
        }
        try (RangeLock _ = exclusive.get()) {
            discard(layout.entry(id));
        }
        return true;
    }

    /** Takes a folder out of its place in one step, then deletes it. */
    void discard(Path folder) throws IOException {
        if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            Path trash = layout.trash();
            disk.move(folder, trash);
            disk.delete(trash);
        }
    }

    /** What builders and removers left that died. @param mine an entry that the caller builds, left alone */
    void removeLeftovers(String mine) throws IOException {
        for (Path trash : layout.leftovers()) {
            disk.delete(trash);
        }
        for (String id : layout.buildings()) {
            if (!id.equals(mine)) {
                Optional<RangeLock> exclusive = RangeLock.tryLock(layout.locks(), CacheLayout.position(id), false);
                if (exclusive.isPresent()) {
                    try (RangeLock _ = exclusive.get()) {
                        discard(layout.building(id));
                    }
                }
            }
        }
    }

    private RangeLock alone() throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            Optional<RangeLock> lock = RangeLock.tryLock(layout.locks(), CacheLayout.ROOM, false);
            if (lock.isPresent()) {
                return lock.get();
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("another process has been making room in " + layout.root() + " for " + PATIENCE.toSeconds() + " s");
            }
            Pause.millis(POLL_MILLIS);
        }
    }

    private List<String> byLastUse() throws IOException {
        return layout.entries().stream().sorted(Comparator.comparing(id -> lastUse(layout, id))).toList();
    }

    /** When the entry was last opened; an unfinished one counts as never. */
    static FileTime lastUse(CacheLayout layout, String id) {
        try {
            return Files.getLastModifiedTime(layout.entry(id).resolve(CacheLayout.READY), LinkOption.NOFOLLOW_LINKS);
        } catch (IOException unfinished) {
            return FileTime.fromMillis(0);
        }
    }

    private boolean fits(long bytes) throws IOException {
        return layout.bytes() + bytes <= limits.mostBytes() && usable() - bytes >= limits.keepFree();
    }

    private long usable() throws IOException {
        FileStore store = Files.getFileStore(layout.root());
        return store.getUsableSpace();
    }
}
