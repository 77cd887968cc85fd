package io.kinema.cli;

import io.kinema.engine.EngineOptions;
import io.kinema.jobs.process.EngineHost;
import io.kinema.jobs.process.H3JobEngine;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kinema worker-engine}: the engine process of a worker, which speaks with its parent over standard input and output. */
@Command(name = "worker-engine", hidden = true, description = "The engine process of a worker; started by kinema serve and kinema worker.")
final class WorkerEngineCommand implements Callable<Integer> {
    /** How it is called. */
    static final String NAME = "worker-engine";

    @Mixin
    private ExecutionOptions execution;

    @Override
    public Integer call() throws IOException {
        ChildSignals.ignore();
        EngineOptions options = execution.engine();
        FileOutputStream pipe = new FileOutputStream(FileDescriptor.out);
        // Whatever prints from here on must not get into the pipe.
        System.setOut(System.err);
        EngineHost.serve(System.in, pipe, () -> H3JobEngine.open(options));
        // The parent is gone: nobody waits for what is being computed, and native code may not be interruptible.
        Runtime.getRuntime().halt(ExitCode.DONE);
        return ExitCode.DONE;
    }
}
