package io.kinema.weights.prepared;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What the file system says about a file without its content. Whoever writes a file changes it: the time of the last change cannot be
 * set by hand. The number of the device is left out, since many systems number devices anew when they start.
 *
 * @param bytes    size
 * @param inode    number of the file
 * @param modified nanoseconds since 1970, of the content
 * @param changed  nanoseconds since 1970, of content, owner, permissions or links
 */
record FileStat(long bytes, long inode, long modified, long changed) {
    /** @param links whether to follow them */
    static FileStat of(Path file, LinkOption... links) throws IOException {
        Map<String, Object> facts = Files.readAttributes(file, "unix:size,ino,lastModifiedTime,ctime", links);
        return new FileStat((Long) facts.get("size"), ((Number) facts.get("ino")).longValue(), nanos(facts.get("lastModifiedTime")), nanos(facts.get("ctime")));
    }

    ObjectNode json() {
        return JsonNodeFactory.instance.objectNode().put("bytes", bytes).put("inode", inode).put("modified", modified).put("changed", changed);
    }

    private static long nanos(Object time) {
        return ((FileTime) time).to(TimeUnit.NANOSECONDS);
    }
}
