package io.kinema.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerPoolTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7})
    void everyTaskRunsOnce(int threads) {
        try (WorkerPool pool = new WorkerPool(threads)) {
            for (int count : new int[] {0, 1, 2, 3, 100, 1000}) {
                AtomicIntegerArray runs = new AtomicIntegerArray(count);
                pool.run(count, (i, scratch) -> runs.incrementAndGet(i));
                for (int i = 0; i < count; i++) {
                    assertThat(runs.get(i)).as("runs of task %d of %d", i, count).isEqualTo(1);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7})
    void aFailureReachesTheCallerAndThePoolStaysUsable(int threads) {
        try (WorkerPool pool = new WorkerPool(threads)) {
            assertThatThrownBy(() -> pool.run(50, (i, scratch) -> {
                if (i == 37) {
                    throw new IllegalArgumentException("task 37");
                }
            })).isInstanceOf(IllegalArgumentException.class).hasMessage("task 37");
            AtomicIntegerArray runs = new AtomicIntegerArray(1);
            pool.run(20, (i, scratch) -> runs.incrementAndGet(0));
            assertThat(runs.get(0)).isEqualTo(20);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aSecondThreadIsRefusedWhileOneHasWork(int threads) {
        try (WorkerPool pool = new WorkerPool(threads)) {
            CompletableFuture<Void> second = new CompletableFuture<>();
            pool.run(4, (i, scratch) -> {
                if (i == 0) {
                    Thread.ofPlatform().name("second").start(() -> {
                        try {
                            pool.run(1, (_, _) -> second.complete(null));
                        } catch (IllegalStateException e) {
                            second.completeExceptionally(e);
                        }
                    });
                    second.exceptionally(_ -> null).join();
                }
            });
            assertThatThrownBy(second::join).hasCauseInstanceOf(IllegalStateException.class).hasMessageContaining("worker pool: got work of thread second while thread ")
                    .hasMessageContaining("expected one at a time");
            AtomicIntegerArray runs = new AtomicIntegerArray(1);
            pool.run(9, (i, scratch) -> runs.incrementAndGet(0));
            assertThat(runs.get(0)).isEqualTo(9);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void sleepingWorkersWake(int threads) throws InterruptedException {
        try (WorkerPool pool = new WorkerPool(threads)) {
            for (int round = 0; round < 5; round++) {
                Thread.sleep(5);
                AtomicIntegerArray runs = new AtomicIntegerArray(1);
                pool.run(9, (i, scratch) -> runs.incrementAndGet(0));
                assertThat(runs.get(0)).isEqualTo(9);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void closingTwiceIsHarmlessAndRunningAfterIsNot(int threads) {
        WorkerPool pool = new WorkerPool(threads);
        pool.run(4, (i, scratch) -> scratch.block(0, 10));
        pool.close();
        pool.close();
        assertThatThrownBy(() -> pool.run(1, (i, scratch) -> { })).isInstanceOf(IllegalStateException.class);
    }
}
