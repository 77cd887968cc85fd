package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Owns a partial result that several ranks read, until the last of them has let go: a rank that ends early, because it failed or because it is
 * quicker, takes nothing from under the others and waits for nobody.
 */
final class LentPartial {
    private final Tensor values;
    private final Arena memory;
    private final AtomicInteger holders;

    /** @param memory of the values alone; closed by the last release */
    LentPartial(Tensor values, Arena memory, int holders) {
        this.values = values;
        this.memory = memory;
        this.holders = new AtomicInteger(holders);
    }

    Tensor values() {
        return values;
    }

    /** One holder less; each calls it once. */
    void release() {
        if (holders.decrementAndGet() == 0) {
            memory.close();
        }
    }
}
