package io.kinema.media.file;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;

/** Where an output goes: checks a path that is to be written and words what can go wrong with it. */
public final class WriteTarget {

    private WriteTarget() {
    }

    /**
     * Parses a path a user typed.
     *
     * @throws BadMediaException if the file system has no such name, as for 中文 in a JVM whose locale is plain ASCII
     */
    public static Path parse(String path) {
        try {
            return Path.of(path);
        } catch (InvalidPathException e) {
            throw new BadMediaException("Cannot use the file name '" + path + "': " + e.getReason()
                    + "; this JVM's file names are " + System.getProperty("sun.jnu.encoding") + ", set LC_ALL=C.UTF-8.", e);
        }
    }

    /**
     * The absolute file that writing to {@code target} would change, symbolic links followed.
     *
     * @throws BadMediaException if it is a folder or not a plain file, or if its folder is missing, no folder or not writable
     */
    public static Path resolve(Path target) {
        Path real = followed(target.toAbsolutePath().normalize());
        Path folder = real.getParent();
        if (folder == null || Files.isDirectory(real)) {
            throw new BadMediaException("Cannot write '" + target + "': it is a folder; give a file name.");
        }
        if (Files.exists(real) && !Files.isRegularFile(real)) {
            throw new BadMediaException("Cannot write '" + target + "': it is a device or a pipe; give the name of a plain file.");
        }
        if (!Files.exists(folder)) {
            throw new BadMediaException("Cannot write '" + target + "': the folder '" + folder + "' does not exist; create it first.");
        }
        if (!Files.isDirectory(folder)) {
            throw new BadMediaException("Cannot write '" + target + "': '" + folder + "' is not a folder.");
        }
        if (!Files.isWritable(folder)) {
            throw readOnly(target, folder);
        }
        return real;
    }

    /** Words an input/output failure while writing {@code target}. */
    public static BadMediaException failure(Path target, IOException e) {
        String reason = e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : e.getMessage();
        String text = String.valueOf(reason).toLowerCase(Locale.ROOT);
        Path folder = target.toAbsolutePath().normalize().getParent();
        if (text.contains("no space left") || text.contains("quota exceeded") || text.contains("file too large")) {
            return new BadMediaException("Cannot write '" + target + "': " + reason + "; free some space or choose another folder.", e);
        }
        if (e instanceof AccessDeniedException || text.contains("read-only") || text.contains("permission denied")) {
            return readOnly(target, folder);
        }
        if (e instanceof NoSuchFileException) {
            return new BadMediaException("Cannot write '" + target + "': the folder '" + folder + "' takes no such file; choose another.",
                    e);
        }
        String detail = reason == null ? e.getClass().getSimpleName() : reason;
        return new BadMediaException("Cannot write '" + target + "': " + detail + "; choose another folder or file name.", e);
    }

    private static BadMediaException readOnly(Path target, Path folder) {
        return new BadMediaException("Cannot write '" + target + "': the folder '" + folder
                + "' cannot be written; choose another folder or change its permissions.");
    }

    private static Path followed(Path path) {
        try {
            return Files.exists(path) ? path.toRealPath() : path;
        } catch (IOException e) {
            return path;
        }
    }
}
