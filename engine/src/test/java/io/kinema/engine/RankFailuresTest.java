package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.collective.RankTimeoutException;
import io.kinema.compute.cpu.CpuBackend;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one rank's failure does to the others and to the engine. */
class RankFailuresTest {
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A small robot walks.").size(64, 32).frames(22).steps(3).seed(7).build();
    /** No rank of a tiny model is held up for so long by a busy machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(6);

    /** The tiny model has three blocks and two refiners, so this lies within the second step. */
    private static final int IN_MID_STEP = 7;

    @TempDir
    private static Path temp;

    private static final AtomicInteger CALLS = new AtomicInteger();
    private static volatile Runnable atTheCall = () -> { };
    private static H3Engine engine;
    private static Clip whole;

    @BeforeAll
    static void open() throws IOException {
        Path model = TinyModel.in(temp.resolve("tiny"));
        RankOptions ranks = RankOptions.DEFAULTS.withTensorParallel(2).withCollectiveTimeout(PATIENCE);
        engine = H3Engine.open(EngineOptions.builder().model(model).ranks(ranks).build(), List.of(CpuBackend.open(1), disturbed(CpuBackend.open(1))));
        whole = engine.generate(REQUEST);
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    /** A backend that does something else than asked at one of its attentions. */
    private static Backend disturbed(Backend base) {
        return (Backend) Proxy.newProxyInstance(RankFailuresTest.class.getClassLoader(), new Class<?>[] {Backend.class}, (_, method, arguments) -> {
            if (method.getName().equals("attention") && CALLS.incrementAndGet() == IN_MID_STEP) {
                atTheCall.run();
            }
            try {
                return method.invoke(base, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private static void disturb(Runnable what) {
        CALLS.set(0);
        atTheCall = what;
    }

    private static void requireUsable() {
        disturb(() -> { });
        Clip again = engine.generate(REQUEST);
        assertThat(again.latents().video()).isEqualTo(whole.latents().video());
        assertThat(again.left()).isEqualTo(whole.left());
    }

    @Test
    void oneRanksFailureInMidStepIsTheRequestsAndTheEngineGoesOn() {
        IllegalStateException broken = new IllegalStateException("rank 1 broke");
        disturb(() -> {
            throw broken;
        });
        assertThatThrownBy(() -> engine.generate(REQUEST)).isSameAs(broken);
        assertThat(CALLS.get()).isEqualTo(IN_MID_STEP);
        requireUsable();
    }

    @Test
    void nobodyWaitsForEverForARankThatHangs() {
        disturb(() -> sleep(PATIENCE.multipliedBy(2)));
        assertThatExceptionOfType(RankTimeoutException.class).isThrownBy(() -> engine.generate(REQUEST)).withMessageContaining("1 of 2 ranks within 6.0 s");
        requireUsable();
    }

    @Test
    void cancellingBetweenStepsEndsAllRanks() {
        disturb(() -> { });
        Cancellation cancellation = new Cancellation();
        assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> engine.generate(REQUEST, event -> {
            if (event instanceof Progress.StepFinished step && step.step() == 1) {
                cancellation.cancel();
            }
        }, cancellation));
        requireUsable();
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
