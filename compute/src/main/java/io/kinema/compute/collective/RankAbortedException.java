package io.kinema.compute.collective;

/** This rank stopped because another one failed; the cause is that rank's failure, the first of all. */
public final class RankAbortedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RankAbortedException(int rank, Throwable first) {
        super("rank " + rank + " stopped because another rank failed: " + first.getMessage(), first);
    }
}
