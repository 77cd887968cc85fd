package io.kinema.measure;

import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.measure.contract.BenchContract;
import io.kinema.measure.contract.BenchGates;
import java.nio.file.Path;

/** The bundled model and a request that takes it a fraction of a second. */
public final class Models {
    /** The repository. */
    public static final Path ROOT = Path.of(System.getProperty("kinema.root", ".")).toAbsolutePath();

    private Models() {
    }

    public static EngineOptions nano() {
        return EngineOptions.builder().model(ROOT.resolve("models/h3-nano")).threads(1).build();
    }

    public static GenerateRequest request() {
        return GenerateRequest.prompt("A red circle bounces").size(64, 64).frames(22).steps(2).seed(3).build();
    }

    public static BenchContract contract() {
        return new BenchContract("tiny", request(), nano(), BenchGates.STEADY);
    }
}
