package io.kinema.jobs.storage;

/** A storage could not do what it was asked: no space, no permission, not reachable. The message names the key, never a path. */
public final class StorageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StorageException(String message, Throwable cause) {
        super(message, cause);
    }
}
