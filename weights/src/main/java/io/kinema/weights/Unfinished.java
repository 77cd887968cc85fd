package io.kinema.weights;

import java.nio.file.Path;

/** Downloads that did not end: hub clients write {@code NAME.incomplete} and rename it when the last byte is there. */
final class Unfinished {
    static final String SUFFIX = ".incomplete";

    private Unfinished() {
    }

    /** The name a file has while it is being downloaded. */
    static Path of(Path file) {
        return file.resolveSibling(file.getFileName() + SUFFIX);
    }

    static BadWeightsException refuse(Path part) {
        return new BadWeightsException(part + ": an unfinished download, expected a complete .safetensors file; let the download end or start it again");
    }
}
