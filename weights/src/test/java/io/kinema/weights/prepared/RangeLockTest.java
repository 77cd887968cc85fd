package io.kinema.weights.prepared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RangeLockTest {
    @TempDir
    private Path folder;

    /** All users of a process share one handle, which the system closes under an interrupted thread. */
    @Test
    void anInterruptedThreadTakesNoLockFromOthers() throws IOException {
        Path file = folder.resolve("locks");
        try (RangeLock kept = RangeLock.tryLock(file, 1, true).orElseThrow()) {
            Thread.currentThread().interrupt();
            try (RangeLock mine = RangeLock.tryLock(file, 2, false).orElseThrow()) {
                assertThat(Thread.interrupted()).as("still interrupted").isTrue();
                assertThat(mine.shared()).isFalse();
                assertThat(RangeLock.tryLock(file, 2, true)).isEmpty();
            }
            Optional<RangeLock> again = RangeLock.tryLock(file, 1, true);
            assertThat(again).isPresent();
            again.get().close();
            assertThat(kept.shared()).isTrue();
        }
        RangeLock.tryLock(file, 1, false).orElseThrow().close();
    }
}
