package io.kinema.compute.collective;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Owns a rank's memory for exact reductions until the last rank that reads it has let go: one that ends early, because it failed or because it is
 * quicker, takes nothing from under the others and waits for nobody.
 */
final class LentRows {
    private final PeerRows rows;
    private final AtomicInteger holders;

    /** @param rows closed by the last release */
    LentRows(PeerRows rows, int holders) {
        this.rows = rows;
        this.holders = new AtomicInteger(holders);
    }

    PeerRows rows() {
        return rows;
    }

    /** One holder less; each calls it once. */
    void release() {
        if (holders.decrementAndGet() == 0) {
            rows.close();
        }
    }
}
