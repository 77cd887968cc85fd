package io.kinema.weights;

/**
 * A weight file, index or folder is not what it must be. The message is one line that carries the file, the tensor
 * where there is one, what was found, what was expected and what to do.
 */
public final class BadWeightsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BadWeightsException(String message) {
        super(message);
    }

    public BadWeightsException(String message, Throwable cause) {
        super(message, cause);
    }
}
