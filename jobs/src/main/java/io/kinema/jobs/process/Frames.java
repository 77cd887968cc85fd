package io.kinema.jobs.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Messages on a pipe: the length of a text in bytes as four bytes, the largest first, then the text, one JSON object in UTF-8.
 */
final class Frames {
    /** A message is a few hundred bytes, or a request with its prompt; anything larger is noise on the pipe. */
    static final int MOST_BYTES = 4 << 20;

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Frames() {
    }

    /** Writes messages; several threads may use it. */
    static final class Writer {
        private final DataOutputStream out;

        Writer(OutputStream out) {
            this.out = new DataOutputStream(out);
        }

        synchronized void write(JsonNode message) throws IOException {
            byte[] text = message.toString().getBytes(StandardCharsets.UTF_8);
            out.writeInt(text.length);
            out.write(text);
            out.flush();
        }
    }

    /** Reads messages; one thread. */
    static final class Reader {
        private final DataInputStream in;

        Reader(InputStream in) {
            this.in = new DataInputStream(in);
        }

        /** The next message; empty when the other side has gone. @throws IOException when something else came than a message */
        Optional<JsonNode> read() throws IOException {
            int length;
            try {
                length = in.readInt();
            } catch (EOFException gone) {
                return Optional.empty();
            }
            if (length < 2 || length > MOST_BYTES) {
                throw new IOException("engine pipe: got a message of " + length + " bytes, expected 2 to " + MOST_BYTES + "; something else writes to it");
            }
            byte[] text = in.readNBytes(length);
            if (text.length < length) {
                return Optional.empty();
            }
            JsonNode message = MAPPER.readTree(text);
            if (!message.isObject()) {
                throw new IOException("engine pipe: got something else than a JSON object");
            }
            return Optional.of(message);
        }
    }
}
