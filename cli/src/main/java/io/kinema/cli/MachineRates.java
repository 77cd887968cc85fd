package io.kinema.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.record.RunRecord;
import io.kinema.media.BadMediaException;
import io.kinema.media.file.AtomicFile;
import io.kinema.media.file.CacheFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * This machine's measured rates in the user's cache folder: every clip adds to them, every plan reads them. The file is a
 * convenience: when it cannot be read or written, nothing fails.
 */
final class MachineRates {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long MOST_BYTES = 1 << 20;

    private MachineRates() {
    }

    /** {@code rates.json} in the user's {@link CacheFolder}; the system property {@code kinema.rates} overrules it. */
    static Path file() {
        String chosen = System.getProperty("kinema.rates");
        if (chosen != null) {
            return Path.of(chosen);
        }
        return CacheFolder.ofUser().resolve("rates.json");
    }

    /** What was measured so far. */
    static Rates read() {
        return read(file());
    }

    static Rates read(Path file) {
        try {
            return Files.size(file) > MOST_BYTES ? Rates.NONE : Rates.read(JSON.readTree(Files.readAllBytes(file)));
        } catch (IOException absent) {
            return Rates.NONE;
        }
    }

    /** Adds what a run measured. */
    static void remember(RunRecord run) {
        remember(run, file());
    }

    static void remember(RunRecord run, Path file) {
        try {
            Files.createDirectories(file.getParent());
            write(read(file).with(run), file);
        } catch (IOException | BadMediaException unwritable) {
            // A plan will then be less sure; the clip is what was asked for.
        }
    }

    private static void write(Rates rates, Path file) throws IOException {
        try (AtomicFile target = AtomicFile.create(file)) {
            ByteBuffer text = ByteBuffer.wrap(rates.toJson().toPrettyString().getBytes(StandardCharsets.UTF_8));
            while (text.hasRemaining()) {
                target.channel().write(text);
            }
            target.commit();
        }
    }
}
