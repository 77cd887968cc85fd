package io.kinema.weights.prepared;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;

/**
 * The last file of an entry that is written: the entry is whole. It says as what file the weights were found to be what was written;
 * while they are still that file, their content need not be read again.
 *
 * @param manifest hex SHA-256 of the manifest
 * @param weights  the file of weights when its content was last compared with the manifest
 * @param compared nanoseconds since 1970 when that comparison began
 */
record ReadyMarker(String manifest, FileStat weights, long compared) {
    /** File systems count time in ticks of some milliseconds: what was written within the same one does not show. */
    private static final long TICK = 20_000_000;
    /** Largest marker that is read. */
    static final int LARGEST = 1 << 16;

    /** Whether a file is still the one whose content was compared. */
    boolean knows(FileStat now) {
        return now.equals(weights) && compared - weights.changed() > TICK;
    }

    /** The time now, as {@code compared} counts it. */
    static long now() {
        return ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
    }

    byte[] toBytes() {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("manifest", manifest).put("compared", compared);
        root.set("weights", weights.json());
        return root.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** @throws io.kinema.weights.BadWeightsException when it is not what {@link #toBytes} writes */
    static ReadyMarker parse(byte[] bytes) {
        JsonNode root = PreparedManifest.read(bytes);
        PreparedManifest.requireFields(root, Set.of("manifest", "weights", "compared"));
        JsonNode stat = root.path("weights");
        PreparedManifest.requireFields(stat, Set.of("bytes", "inode", "modified", "changed"));
        return new ReadyMarker(PreparedManifest.sha256(root, "manifest"), new FileStat(PreparedManifest.whole(stat, "bytes"),
                PreparedManifest.whole(stat, "inode"), PreparedManifest.whole(stat, "modified"), PreparedManifest.whole(stat, "changed")), PreparedManifest.whole(root, "compared"));
    }
}
