package io.kinema.jobs.worker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Owns a small file system in memory, mounted on a folder, until it is closed. Only root may mount one. */
final class SmallDisk implements AutoCloseable {
    private final Path folder;

    private SmallDisk(Path folder) {
        this.folder = folder;
    }

    /** @return empty where this user may not mount */
    static Optional<SmallDisk> mount(Path folder, int kilobytes) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        return run("mount", "-t", "tmpfs", "-o", "size=" + kilobytes + "k", "none", folder.toString()) ? Optional.of(new SmallDisk(folder)) : Optional.empty();
    }

    Path folder() {
        return folder;
    }

    void readOnly(boolean value) throws IOException, InterruptedException {
        if (!run("mount", "-o", "remount," + (value ? "ro" : "rw"), folder.toString())) {
            throw new IOException("remount failed");
        }
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        if (!run("umount", "-l", folder.toString())) {
            throw new IOException("umount failed");
        }
    }
}
