package io.kinema.engine;

import io.kinema.model.adapter.Alpha;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * An adapter that a request wants.
 *
 * @param file  safetensors, in any of the key styles that people have
 * @param scale multiplies the adapter's own alpha / rank; finite, 0 leaves it out
 * @param alpha for a file that neither states alpha nor is known; refused where no adapter of the request needs it and it contradicts
 */
public record AdapterUse(Path file, double scale, Optional<Alpha> alpha) {
    public AdapterUse {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(alpha, "alpha");
        if (!Double.isFinite(scale)) {
            throw new BadRequestException("adapter", "scale " + scale, "expected a finite number");
        }
    }

    /** An adapter at its own strength. */
    public static AdapterUse of(Path file) {
        return new AdapterUse(file, 1, Optional.empty());
    }

    /** {@code FILE} or {@code FILE:SCALE}; a colon that no number follows belongs to the file's name. */
    public static AdapterUse parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0 || Files.exists(Path.of(text))) {
            return of(Path.of(text));
        }
        String tail = text.substring(colon + 1);
        try {
            return new AdapterUse(Path.of(text.substring(0, colon)), Double.parseDouble(tail), Optional.empty());
        } catch (NumberFormatException e) {
            if (Files.exists(Path.of(text.substring(0, colon)))) {
                throw new BadRequestException("adapter", "scale '" + tail + "'", "expected a number after the colon, as in style.safetensors:0.75");
            }
            return of(Path.of(text));
        }
    }

    /** The same adapter at another strength. */
    public AdapterUse scaled(double other) {
        return new AdapterUse(file, other, alpha);
    }

    /** The same adapter with alpha stated. */
    public AdapterUse withAlpha(Alpha stated) {
        return new AdapterUse(file, scale, Optional.of(stated));
    }

    /** The file's name without its folder. */
    public String name() {
        return file.getFileName() == null ? file.toString() : file.getFileName().toString();
    }
}
