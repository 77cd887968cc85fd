package io.kinema.engine;

import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import java.nio.file.Path;

/** Models whose configs tests read. */
public final class Geometries {
    /** The repository. */
    public static final Path ROOT = Path.of(System.getProperty("kinema.root", ".")).toAbsolutePath();
    /** The bundled model. */
    public static final Path NANO = ROOT.resolve("models/h3-nano");
    /** Tiny random weights with the released canvas rule. */
    public static final Path TINY = ROOT.resolve("testdata/goldens/checkpoint");

    private Geometries() {
    }

    /** Sizes of the released canvas rule: 768-pixel short edge, 4 to 15 s. */
    public static ModelGeometry released() {
        return ModelFolder.open(TINY).geometry();
    }

    /** Sizes of the bundled model. */
    public static ModelGeometry nano() {
        return ModelFolder.open(NANO).geometry();
    }
}
