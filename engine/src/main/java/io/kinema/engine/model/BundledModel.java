package io.kinema.engine.model;

import io.kinema.weights.BadWeightsException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Optional;

/** Finds the checkpoint that ships with Kinema. */
public final class BundledModel {
    private static final Path WITHIN = Path.of("models", "h3-nano");

    private BundledModel() {
    }

    /**
     * {@code models/h3-nano} in the folder named by the system property {@code kinema.home}, else in the nearest folder above
     * this class's own jar or classes, else in the nearest above the working directory.
     *
     * @throws BadWeightsException when none of them has it
     */
    public static Path folder() {
        String home = System.getProperty("kinema.home");
        if (home != null) {
            return Path.of(home).resolve(WITHIN);
        }
        return above(codeLocation()).or(() -> above(Optional.of(Path.of("").toAbsolutePath())))
                .orElseThrow(() -> new BadWeightsException("the bundled model " + WITHIN
                        + " was not found; name a model folder, or set the system property kinema.home to Kinema's folder"));
    }

    /** {@code models/h3-released-sizes} beside it: the released configs, no weights; its networks have random ones. */
    public static Path releasedSizes() {
        return folder().resolveSibling("h3-released-sizes");
    }

    private static Optional<Path> codeLocation() {
        CodeSource source = BundledModel.class.getProtectionDomain().getCodeSource();
        try {
            return source == null ? Optional.empty() : Optional.of(Path.of(source.getLocation().toURI()));
        } catch (URISyntaxException | IllegalArgumentException | java.nio.file.FileSystemNotFoundException e) {
            return Optional.empty();
        }
    }

    private static Optional<Path> above(Optional<Path> start) {
        for (Path at = start.orElse(null); at != null; at = at.getParent()) {
            if (Files.isRegularFile(at.resolve(WITHIN).resolve("model_index.json"))) {
                return Optional.of(at.resolve(WITHIN));
            }
        }
        return Optional.empty();
    }
}
