package io.kinema.jobs;

import io.kinema.engine.GenerateRequest;
import io.kinema.engine.GenerateRequestJson;
import io.kinema.jobs.storage.StorageException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Tells whether two submissions ask for the same: a hash of what they say, whether lists show it, and of what is in the files that they name. */
public final class RequestFingerprint {
    private static final int CHUNK = 1 << 16;

    private RequestFingerprint() {
    }

    /** SHA-256, hexadecimal, of model, request and contents of inputs. @throws StorageException when an input cannot be read */
    public static String of(Submission submission) {
        GenerateRequest byContent = JobInputs.renamed(submission.generate(), file -> Path.of(sha256(file)));
        String text = submission.model() + "\n" + GenerateRequestJson.write(byContent);
        // One that somebody waits for goes with its answer: it is not the one that a list shows.
        text += submission.listed() ? "" : "\nunlisted";
        return HexFormat.of().formatHex(digest().digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static String sha256(Path file) {
        MessageDigest digest = digest();
        try (InputStream in = Files.newInputStream(file)) {
            byte[] chunk = new byte[CHUNK];
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                digest.update(chunk, 0, n);
            }
        } catch (IOException e) {
            throw new StorageException("input: a file of the request cannot be read; send it again", e);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
