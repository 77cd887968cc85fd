package io.kinema.jobs.worker;

import io.kinema.engine.EngineOptions;
import io.kinema.jobs.process.EngineHost;
import io.kinema.jobs.process.EngineLauncher;
import io.kinema.jobs.process.H3JobEngine;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;

/** An engine process with the bundled model. */
final class RealEngine {
    private RealEngine() {
    }

    static EngineOptions options() {
        return EngineOptions.builder().model(Path.of(System.getProperty("kinema.root"), "models", "h3-nano")).threads(2).build();
    }

    public static void main(String[] arguments) throws IOException {
        FileOutputStream pipe = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err);
        EngineHost.serve(System.in, pipe, () -> H3JobEngine.open(options()));
        Runtime.getRuntime().halt(0);
    }

    static EngineLauncher launcher() {
        return () -> new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-XX:+UseSerialGC",
                "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Dkinema.root=" + System.getProperty("kinema.root"),
                "-cp", System.getProperty("java.class.path"), RealEngine.class.getName()).start();
    }
}
