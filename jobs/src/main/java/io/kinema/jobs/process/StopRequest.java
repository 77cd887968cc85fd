package io.kinema.jobs.process;

import io.kinema.engine.Cancellation;

/** Asks a running order to stop, at once or once the sampler's state is saved. Any thread may ask. */
public final class StopRequest {
    private final Cancellation cancellation = new Cancellation();
    private boolean releasing;
    private boolean nothingToLose = true;

    /** What the engine looks at between steps. */
    public Cancellation cancellation() {
        return cancellation;
    }

    /** Stops at the next opportunity. */
    public void cancel() {
        cancellation.cancel();
    }

    /** Stops when that loses no step: now, or when {@link #saved} is told. */
    public synchronized void release() {
        releasing = true;
        if (nothingToLose) {
            cancellation.cancel();
        }
    }

    /** Tells that a step was made which is not saved. */
    public synchronized void stepped() {
        nothingToLose = false;
    }

    /** Tells that everything made so far is saved. */
    public synchronized void saved() {
        nothingToLose = true;
        if (releasing) {
            cancellation.cancel();
        }
    }
}
