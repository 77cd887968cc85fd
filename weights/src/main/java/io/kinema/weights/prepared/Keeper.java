package io.kinema.weights.prepared;

/** Owns a lock until the end of a block, unless it was handed on. */
final class Keeper implements AutoCloseable {
    private final RangeLock lock;
    private boolean kept;

    Keeper(RangeLock lock) {
        this.lock = lock;
    }

    void kept() {
        kept = true;
    }

    @Override
    public void close() {
        if (!kept) {
            lock.close();
        }
    }
}
