package io.kinema.serve.problem;

/** Hears what an operator should know. Nothing that a client wrote is in it: no prompt, no file name, no address. */
@FunctionalInterface
public interface FailureLog {
    /** Hears nothing. */
    FailureLog NONE = (name, failure) -> {
    };

    /**
     * Something failed that is not the client's fault.
     *
     * @param name    what the client was told to quote; empty when nothing
     * @param failure what happened
     */
    void failure(String name, Throwable failure);
}
