package io.kinema.measure.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.DeviceSensors;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SamplerTest {
    /** Counts how often it is read and says whether it was closed. */
    private static final class Card implements DeviceSensors {
        private final CountDownLatch reads = new CountDownLatch(3);
        private final AtomicBoolean closed = new AtomicBoolean();

        @Override
        public List<Reading> read() {
            reads.countDown();
            return List.of(new Reading("cuda:0", new TreeMap<>(Map.of("power_watts", 250.0, "unknown", Double.NaN))));
        }

        @Override
        public void close() {
            closed.set(true);
        }
    }

    @Test
    void samplesHoldTheHostAndEveryDevice() throws InterruptedException {
        Card card = new Card();
        List<Sample> samples;
        try (Sampler sampler = Sampler.start(Duration.ofMillis(1), List.of(card))) {
            card.reads.await();
            samples = sampler.samples();
        }
        assertThat(card.closed).isTrue();
        assertThat(samples).hasSizeGreaterThanOrEqualTo(2).isSortedAccordingTo((a, b) -> Double.compare(a.seconds(), b.seconds()));
        assertThat(samples.getFirst().freeBytes()).isPositive();
        var json = samples.getFirst().toJson();
        assertThat(json.path("devices").path("cuda:0").path("power_watts").asDouble()).isEqualTo(250);
        assertThat(json.path("devices").path("cuda:0").path("unknown").isNull()).isTrue();
    }

    @Test
    void othersLoadIsWhatThisProcessDoesNotUse() {
        assertThat(new Sample(0, 1, 1, 0.9, 0.6, 0, List.of()).otherLoad()).isCloseTo(0.3, org.assertj.core.api.Assertions.within(1e-12));
        assertThat(new Sample(0, 1, 1, 0.5, 0.6, 0, List.of()).otherLoad()).isZero();
        assertThat(new Sample(0, 1, 1, Double.NaN, 0.6, 0, List.of()).otherLoad()).isNaN();
    }
}
