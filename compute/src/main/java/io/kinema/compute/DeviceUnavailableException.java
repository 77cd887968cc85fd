package io.kinema.compute;

/** A device that was asked for is not there or cannot be used. One line: which, what is missing, and what to do. */
public final class DeviceUnavailableException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public DeviceUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
