package io.kinema.jobs.worker;

import io.kinema.jobs.StoreUnavailableException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Tells the queue something that must not be forgotten, again while the database is away. */
final class Patience {
    private static final Duration PAUSE = Duration.ofMillis(500);

    private Patience() {
    }

    /** @return what the queue answered: false when the lease has ended */
    static boolean untilStored(BooleanSupplier report) throws InterruptedException {
        while (true) {
            try {
                return report.getAsBoolean();
            } catch (StoreUnavailableException away) {
                Thread.sleep(PAUSE);
            }
        }
    }
}
