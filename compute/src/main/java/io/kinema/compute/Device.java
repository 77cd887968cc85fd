package io.kinema.compute;

/**
 * Where a tensor's bytes live.
 *
 * @param kind  host memory or a CUDA device
 * @param index device number, 0 for the host
 */
public record Device(Kind kind, int index) {
    /** Kinds of memory. */
    public enum Kind { CPU, CUDA }

    /** The host. */
    public static final Device CPU = new Device(Kind.CPU, 0);

    @Override
    public String toString() {
        return kind == Kind.CPU ? "cpu" : "cuda:" + index;
    }
}
