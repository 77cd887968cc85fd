package io.kinema.measure.qualify;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.measure.contract.CanonicalJson;
import io.kinema.media.file.DataFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The user's ledger of qualifications: a file of one JSON document a line, to which lines are only added. Every entry holds the hash of
 * the one before it and its own hash over all the rest, so an entry that was edited, and a gap where one was taken out, are seen. Owns
 * nothing between calls; processes and threads may append at once.
 */
public final class Ledger {
    /** Name and version of an entry. */
    public static final String SCHEMA = "kinema.ledger/1";

    private static final String FIRST = "0".repeat(64);
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    /** File locks hold against other processes only. */
    private static final Object THREADS = new Object();

    private final Path file;

    private Ledger(Path file) {
        this.file = file;
    }

    /** {@code ledger.jsonl} in the user's {@link DataFolder}; the system property {@code kinema.ledger} overrules it. */
    public static Ledger ofUser() {
        String chosen = System.getProperty("kinema.ledger");
        return at(chosen == null ? DataFolder.ofUser().resolve("ledger.jsonl") : Path.of(chosen));
    }

    public static Ledger at(Path file) {
        return new Ledger(file);
    }

    public Path file() {
        return file;
    }

    /**
     * What the file holds.
     *
     * @param entries  whole and unchanged, oldest first
     * @param problems lines that were changed, cut or taken out, one sentence each
     */
    public record Contents(List<ObjectNode> entries, List<String> problems) {
        public Contents {
            entries = List.copyOf(entries);
            problems = List.copyOf(problems);
        }
    }

    /** Reads and checks; an absent file is an empty ledger. @throws BadRequestException when it is there and cannot be read */
    public Contents read() {
        try {
            // Bytes that are no text spoil their line, not the ledger.
            return Files.exists(file) ? check(new String(Files.readAllBytes(file), StandardCharsets.UTF_8)) : new Contents(List.of(), List.of());
        } catch (IOException e) {
            throw new BadRequestException("ledger", "'" + file + "' (" + e.getMessage() + ")", "expected a file that can be read");
        }
    }

    /** Before work whose outcome belongs here. @throws BadRequestException when the file cannot be written */
    public void requireWritable() {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private BadRequestException unwritable(IOException e) {
        return new BadRequestException("ledger", "'" + file + "' (" + e.getMessage() + ")", "expected a file that can be written");
    }

    /**
     * Adds an entry; on return it is on the disk.
     *
     * @param content without {@code schema}, {@code previous} and {@code sha256}, which are added
     * @return the entry as written
     * @throws BadRequestException when the file cannot be written
     */
    public ObjectNode append(ObjectNode content) {
        synchronized (THREADS) {
            try {
                Files.createDirectories(file.toAbsolutePath().getParent());
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                        FileLock lock = channel.lock()) {
                    return append(content, channel, lock);
                }
            } catch (IOException e) {
                throw unwritable(e);
            }
        }
    }

    private static ObjectNode append(ObjectNode content, FileChannel channel, FileLock held) throws IOException {
        assert held.isValid();
        String text = text(channel);
        // A process that died while it wrote left a piece of a line: it becomes a line of its own, which readers report.
        String before = text.isEmpty() || text.endsWith("\n") ? "" : "\n";
        ObjectNode entry = content.deepCopy();
        entry.remove("sha256");
        entry.put("schema", SCHEMA).put("previous", last(text));
        entry.put("sha256", CanonicalJson.sha256(entry));
        ByteBuffer line = ByteBuffer.wrap((before + CanonicalJson.text(entry) + "\n").getBytes(StandardCharsets.UTF_8));
        channel.position(channel.size());
        while (line.hasRemaining()) {
            channel.write(line);
        }
        channel.force(true);
        return entry;
    }

    private static String text(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        channel.position(0);
        while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
            // Goes on until all is there.
        }
        return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    }

    /** The stated hash of the last line that states one. */
    private static String last(String text) {
        String last = FIRST;
        for (String line : text.lines().toList()) {
            String stated = parse(line).path("sha256").asText();
            last = stated.isEmpty() ? last : stated;
        }
        return last;
    }

    private static Contents check(String text) {
        List<ObjectNode> entries = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        String previous = FIRST;
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            JsonNode node = parse(line);
            String stated = node.path("sha256").asText();
            if (!node.isObject() || stated.isEmpty()) {
                problems.add("line " + number + " is no entry; it was cut or written by something else");
                continue;
            }
            if (!node.path("previous").asText().equals(previous)) {
                problems.add("before line " + number + " an entry was taken out or put in");
            }
            previous = stated;
            ObjectNode body = node.deepCopy();
            body.remove("sha256");
            if (!CanonicalJson.sha256(body).equals(stated)) {
                problems.add("line " + number + " was changed after it was written");
            } else if (node.path("schema").asText().equals(SCHEMA)) {
                entries.add((ObjectNode) node);
            } else {
                problems.add("line " + number + " is of schema " + node.path("schema").asText() + ", expected " + SCHEMA);
            }
        }
        return new Contents(entries, problems);
    }

    private static JsonNode parse(String line) {
        try {
            JsonNode node = JSON.readTree(line);
            return node == null ? JSON.missingNode() : node;
        } catch (JsonProcessingException e) {
            return JSON.missingNode();
        }
    }
}
