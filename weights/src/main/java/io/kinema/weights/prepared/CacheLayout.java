package io.kinema.weights.prepared;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * What is called how in a cache's folder: entries, entries being built, entries on their way out, and the file whose bytes are locked.
 *
 * @param root the folder's real path
 */
record CacheLayout(Path root) {
    static final String WEIGHTS = "weights.bin";
    static final String MANIFEST = "manifest.json";
    static final String READY = "ready.json";
    private static final String ENTRY = "entry-";
    private static final String BUILDING = "building-";
    private static final String TRASH = "trash-";
    private static final String LOCKS = "locks";
    /** Locked by whoever makes room. */
    static final long ROOM = 0;
    private static final int POSITION_DIGITS = 15;

    /** Creates the folder where it is missing, for its owner alone. */
    static CacheLayout at(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        return new CacheLayout(folder.toRealPath());
    }

    Path locks() {
        return root.resolve(LOCKS);
    }

    Path entry(String id) {
        return root.resolve(ENTRY + id);
    }

    Path building(String id) {
        return root.resolve(BUILDING + id);
    }

    Path trash() {
        return root.resolve(TRASH + UUID.randomUUID());
    }

    /** Which byte of the lock file stands for an entry: 60 bits of its name, and never {@link #ROOM}. */
    static long position(String id) {
        return 1 + new BigInteger(id.substring(0, POSITION_DIGITS), 16).longValueExact();
    }

    /** Names of the entries, whole or not. */
    List<String> entries() throws IOException {
        return ids(ENTRY);
    }

    /** Names of the entries that somebody builds, or did not finish. */
    List<String> buildings() throws IOException {
        return ids(BUILDING);
    }

    /** What was taken out of its place to be deleted. */
    List<Path> leftovers() throws IOException {
        return names(TRASH).stream().map(root::resolve).toList();
    }

    /** Bytes of weights in the folder. */
    long bytes() throws IOException {
        long sum = 0;
        for (String prefix : List.of(ENTRY, BUILDING, TRASH)) {
            for (String name : names(prefix)) {
                sum += size(root.resolve(name).resolve(WEIGHTS));
            }
        }
        return sum;
    }

    /** 0 for what is not there, or not any more. */
    static long size(Path file) {
        try {
            return FileStat.of(file, LinkOption.NOFOLLOW_LINKS).bytes();
        } catch (IOException gone) {
            return 0;
        }
    }

    private List<String> ids(String prefix) throws IOException {
        return names(prefix).stream().map(name -> name.substring(prefix.length())).filter(Sha256::isHex).toList();
    }

    private List<String> names(String prefix) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.list(root)) {
            files.map(file -> file.getFileName().toString()).filter(name -> name.startsWith(prefix)).sorted().forEach(names::add);
        }
        return names;
    }
}
