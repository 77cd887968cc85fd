package io.kinema.media.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Names the hidden files and folders in which outputs are made, and removes those of processes that were killed.
 *
 * <p>One goes only when two things that do not depend on each other both say that its process is gone. Its name says which kernel's, which
 * PID namespace's and which process's it is: of this kernel and this namespace, there must be no process of that number, or it
 * must be this one, which knows its own. And its lock must be free: the process holds it for life, and a disk that hosts share
 * shares its locks. So another host's and another container's stay, also those of a machine cloned while it ran. What a file system
 * without locks takes has a name that is never removed.
 */
public final class Leftovers {
    /** The file in a hidden folder whose lock stands for the folder. */
    static final String LOCK = "lock";

    private static final Pattern NAME = Pattern.compile("\\.kinema-([0-9a-f]+-\\d+)-(\\d{1,18})-([0-9a-f]+)-[0-9a-f]+\\.part");
    private static final Optional<String> KERNEL = kernel();
    private static final long PID = ProcessHandle.current().pid();
    private static final String PROCESS = Long.toHexString(ThreadLocalRandom.current().nextLong());

    private Leftovers() {
    }

    /** A name for a hidden file or folder that nobody else has. It is short: a target's own may already be as long as the file system allows. */
    static String newName() {
        return KERNEL.map(kernel -> name(kernel, PID, PROCESS)).orElseGet(Leftovers::newKeptName);
    }

    static String name(String kernel, long pid, String process) {
        return ".kinema-" + kernel + "-" + pid + "-" + process + "-" + random() + ".part";
    }

    /** A name that says nothing of its process, which is therefore never removed by another. */
    static String newKeptName() {
        return ".kinema-" + PID + "-" + random() + ".part";
    }

    private static String random() {
        return Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    /** This boot of this machine and this process's PID namespace; empty where they cannot be told. */
    static Optional<String> kernel() {
        try {
            String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip().replace("-", "");
            String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", "");
            String both = boot + "-" + namespace;
            return both.matches("[0-9a-f]{32}-\\d+") ? Optional.of(both) : Optional.empty();
        } catch (IOException | UnsupportedOperationException notLinux) {
            return Optional.empty();
        }
    }

    /**
     * Takes the lock that tells others that the file's process lives; it is released when the channel is closed.
     *
     * @param file  what the channel has open, made by this process just now
     * @return false where there are no locks, or somebody took the file for a leftover between its making and now
     */
    static boolean locked(FileChannel channel, Path file) {
        try {
            return channel.tryLock() != null && Files.exists(file, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException noLocks) {
            return false;
        }
    }

    /** Removes from a folder what killed processes left there; what cannot be removed stays. */
    public static void removeIn(Path folder) {
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(folder, ".kinema-*.part")) {
            for (Path part : parts) {
                if (ofDeadProcess(part.getFileName().toString())) {
                    removeIfUnlocked(part);
                }
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            // Leftovers cost space and nothing else.
        }
    }

    private static boolean ofDeadProcess(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches() || !KERNEL.equals(Optional.of(parts.group(1))) || parts.group(3).equals(PROCESS)) {
            return false;
        }
        long pid = Long.parseLong(parts.group(2));
        return pid == PID || ProcessHandle.of(pid).isEmpty();
    }

    private static void removeIfUnlocked(Path part) {
        Path lock = Files.isDirectory(part, LinkOption.NOFOLLOW_LINKS) ? part.resolve(LOCK) : part;
        try (FileChannel channel = FileChannel.open(lock, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
            if (channel.tryLock() != null) {
                remove(part, lock);
            }
        } catch (IOException | OverlappingFileLockException kept) {
            // Somebody else's, without a lock, or already gone.
        }
    }

    /** The lock goes last: whoever is interrupted here leaves something that can still be told for a leftover. */
    private static void remove(Path part, Path lock) throws IOException {
        if (!lock.equals(part)) {
            try (Stream<Path> all = Files.walk(part)) {
                for (Path path : all.filter(p -> !p.equals(part) && !p.equals(lock)).sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
            Files.delete(lock);
        }
        Files.delete(part);
    }
}
