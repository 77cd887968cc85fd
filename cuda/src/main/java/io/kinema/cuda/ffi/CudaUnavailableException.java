package io.kinema.cuda.ffi;

/** There is no GPU, driver or CUDA library to work with. One line: what is missing and what to do. */
public final class CudaUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CudaUnavailableException(String message) {
        super(message);
    }
}
