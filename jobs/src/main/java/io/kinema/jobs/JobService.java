package io.kinema.jobs;

import io.kinema.jobs.storage.OutputStorage;

/**
 * Owns a queue until it is closed: the connections to its database, its storage, and the worker of this process when it has one.
 * Closing drains: a running job is given back with its last saved step. Closing twice is harmless.
 */
public interface JobService extends AutoCloseable {
    /** The jobs. */
    JobStore jobs();

    /** Their files. */
    OutputStorage storage();

    /** What the worker of this process does. */
    WorkerStatus worker();

    @Override
    void close();
}
