package io.kinema.weights;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;

/**
 * What tells within one process that a file is the one that was read before. The size and the time of the content do not: archives and copies
 * restore times, so another file of the same size may bear the same one. The time of the last change cannot be set by hand.
 *
 * @param path     without links
 * @param bytes    size
 * @param modified when the content was written, as the file says
 * @param inode    number of the file, 0 where the system has none
 * @param changed  when content, name or owner last changed; {@code modified} where the system does not say
 */
public record FileStamp(Path path, long bytes, FileTime modified, long inode, FileTime changed) {
    /** @throws IOException when the file is not there or cannot be looked at */
    public static FileStamp of(Path file) throws IOException {
        Path real = file.toRealPath();
        if (!FileSystems.getDefault().supportedFileAttributeViews().contains("unix") || real.getFileSystem() != FileSystems.getDefault()) {
            FileTime modified = Files.getLastModifiedTime(real);
            return new FileStamp(real, Files.size(real), modified, 0, modified);
        }
        Map<String, Object> facts = Files.readAttributes(real, "unix:size,ino,lastModifiedTime,ctime");
        return new FileStamp(real, (Long) facts.get("size"), (FileTime) facts.get("lastModifiedTime"), ((Number) facts.get("ino")).longValue(),
                (FileTime) facts.get("ctime"));
    }
}
