package io.kinema.serve.http;

import io.javalin.http.Context;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StoredFile;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Sends a stored file, or a part of it, to clients that read at a reasonable pace. */
public final class StoredFileAnswer {
    private static final int CHUNK = 1 << 16;
    private static final long LEAST_BYTES_PER_SECOND = 8 << 10;

    private final OutputStorage storage;
    private final long patienceNanos;

    /** @param patience time in which a client must read, whatever the size; a longer file has a second more for each 8 KiB */
    public StoredFileAnswer(OutputStorage storage, Duration patience) {
        this.storage = storage;
        this.patienceNanos = patience.toNanos();
    }

    /**
     * Answers with the file.
     *
     * @param name      under which a browser saves it
     * @param mediaType its content type
     * @throws Problem when it is gone, or the range asked for lies beyond it
     */
    public void send(Context call, StoredFile file, String name, String mediaType) throws IOException {
        String tag = "\"" + Integer.toHexString(file.key().value().hashCode()) + "-" + Long.toHexString(file.bytes()) + "\"";
        call.header("ETag", tag).header("Accept-Ranges", "bytes").header("Cache-Control", "private, no-cache")
                .header("Content-Disposition", "inline; filename=\"" + name + "\"");
        if (tag.equals(call.header("If-None-Match"))) {
            call.status(304);
            return;
        }
        String condition = call.header("If-Range");
        String wanted = condition == null || condition.equals(tag) ? Optional.ofNullable(call.header("Range")).orElse("") : "";
        Optional<ByteRange> range;
        try {
            range = ByteRange.parse(wanted, file.bytes());
        } catch (Problem beyond) {
            call.header("Content-Range", "bytes */" + file.bytes());
            throw beyond;
        }
        long first = range.map(ByteRange::first).orElse(0L);
        long count = range.map(ByteRange::count).orElse(file.bytes());
        try (InputStream content = storage.read(file.key(), first, count).orElseThrow(() -> Problem.of(ProblemKind.GONE,
                "content: the files of this video are gone, expected one that has not expired"))) {
            range.ifPresent(part -> call.status(206).header("Content-Range", "bytes " + part.first() + "-" + part.last() + "/" + file.bytes()));
            call.contentType(mediaType);
            call.res().setContentLengthLong(count);
            if (call.req().getMethod().equals("HEAD")) {
                call.res().flushBuffer();
            } else {
                copy(content, call.outputStream());
            }
        }
    }

    private void copy(InputStream from, OutputStream to) throws IOException {
        byte[] buffer = new byte[CHUNK];
        long start = System.nanoTime();
        long count = 0;
        for (int read = from.read(buffer); read >= 0; read = from.read(buffer)) {
            to.write(buffer, 0, read);
            count += read;
            long spent = System.nanoTime() - start;
            if (spent > patienceNanos + TimeUnit.SECONDS.toNanos(count / LEAST_BYTES_PER_SECOND)) {
                throw new IOException("the client reads too slowly");
            }
        }
    }
}
