package io.kinema.cuda.memory;

/** Device memory ran out, by the device or by the user's limit; the message says who asked for how much and who holds it. */
public final class DeviceMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public DeviceMemoryException(String message) {
        super(message);
    }
}
