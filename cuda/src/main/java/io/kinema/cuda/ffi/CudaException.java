package io.kinema.cuda.ffi;

/** A CUDA library refused a call: the message names the function, the status by name and number, and what it means. */
public final class CudaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;

    /**
     * @param function the native function
     * @param code     what it returned
     * @param name     the library's name for the code
     * @param meaning  one sentence, may be empty
     */
    public CudaException(String function, int code, String name, String meaning) {
        super(function + " failed: " + name + " (" + code + ")" + (meaning.isEmpty() ? "" : ", " + meaning));
        this.code = code;
    }

    /** The library's status code. */
    public int code() {
        return code;
    }
}
