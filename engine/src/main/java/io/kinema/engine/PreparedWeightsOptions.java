package io.kinema.engine;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * Whether weights are kept as files in the form that products read, for the next time and for other processes. The same bits whatever is
 * chosen.
 *
 * @param use    when
 * @param folder where the files lie; {@code prepared-weights} in Kinema's folder of the user's caches when empty
 */
public record PreparedWeightsOptions(Use use, Optional<Path> folder) {
    /** Where it pays. */
    public static final PreparedWeightsOptions DEFAULTS = new PreparedWeightsOptions(Use.AUTO, Optional.empty());

    /** When prepared weights are kept. */
    public enum Use {
        /** For networks of a GiB or more whose prepared weights take no more than a quarter of the free disk. */
        AUTO,
        /** For every network that has something to prepare. */
        ON,
        /** Never; nothing is read or written either. */
        OFF;

        /** The name on the command line. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public PreparedWeightsOptions {
        Objects.requireNonNull(use, "use");
        Objects.requireNonNull(folder, "folder");
    }

    /** What {@code auto}, {@code on}, {@code off} or the path of a folder asks for. A path has a slash in it. @throws BadRequestException for anything else */
    public static PreparedWeightsOptions of(String text) {
        if (text.contains("/")) {
            return new PreparedWeightsOptions(Use.ON, Optional.of(Path.of(text)));
        }
        return new PreparedWeightsOptions(Arrays.stream(Use.values()).filter(use -> use.label().equals(text)).findFirst()
                .orElseThrow(() -> new BadRequestException("preparedWeights", "'" + text + "'", "expected auto, on, off or a folder's path with a slash in it")),
                Optional.empty());
    }

    /** The text that {@link #of} reads. */
    public String text() {
        return folder.map(path -> path.toAbsolutePath().toString()).orElse(use.label());
    }
}
