package io.kinema.jobs.process;

import java.io.IOException;

/** Starts an engine process, the standard input and output of which are pipes to this one. */
@FunctionalInterface
public interface EngineLauncher {
    /** @throws IOException when it cannot be started */
    Process launch() throws IOException;
}
