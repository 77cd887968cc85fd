package io.kinema.jobs;

import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * Why a job has no result.
 *
 * @param code    for programs
 * @param message one sentence for people; it holds no path, address or trace of the machine that worked on it
 */
public record JobError(Code code, String message) {
    public JobError {
        Objects.requireNonNull(code, "code");
        Objects.requireNonNull(message, "message");
    }

    /** Kinds of failure. */
    public enum Code {
        /** The request or one of its inputs is wrong: it fails again unless it is changed. */
        BAD_REQUEST("bad_request"),
        /** The engine failed while it worked: out of memory, a number that is not finite. */
        GENERATION_FAILED("generation_failed"),
        /** The result could not be stored: no space, read-only, storage away. Asking again may help. */
        STORAGE_FAILED("storage_failed"),
        /** The engine process died or hung on this job twice. */
        QUARANTINED("quarantined"),
        /** It was cancelled. Clients that know only completed and failed find their answer here. */
        CANCELLED("cancelled");

        private final String label;

        Code(String label) {
            this.label = label;
        }

        /** The name in databases and JSON. */
        public String label() {
            return label;
        }

        /** The code with this label, or empty. */
        public static Optional<Code> labelled(String label) {
            return Arrays.stream(values()).filter(c -> c.label.equals(label)).findFirst();
        }
    }
}
