package io.kinema.measure.telemetry;

import io.kinema.compute.BackendProvider;
import io.kinema.compute.DeviceSensors;
import io.kinema.engine.pipeline.Backends;
import java.time.Duration;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;

/**
 * Owns a thread that takes a {@link Sample} from time to time, and access to devices' sensors, until it is closed; closing twice is
 * harmless.
 */
public final class Sampler implements AutoCloseable {
    /** How often a bench looks. */
    public static final Duration INTERVAL = Duration.ofMillis(500);

    private final long start = System.nanoTime();
    private final Duration interval;
    private final List<DeviceSensors> sensors;
    private final List<Sample> samples = new ArrayList<>();
    private final Thread thread;

    private Sampler(Duration interval, List<DeviceSensors> sensors) {
        this.interval = interval;
        this.sensors = sensors;
        this.thread = Thread.ofPlatform().daemon().name("kinema-telemetry").unstarted(this::run);
    }

    /** Starts with the sensors of all devices that this installation knows. */
    public static Sampler start(Duration interval) {
        return start(interval, Backends.providers().stream().map(BackendProvider::sensors).flatMap(Optional::stream).toList());
    }

    /** @param sensors closed with it */
    static Sampler start(Duration interval, List<DeviceSensors> sensors) {
        Sampler sampler = new Sampler(interval, sensors);
        sampler.thread.start();
        return sampler;
    }

    private void run() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                take();
                Thread.sleep(interval);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void take() {
        DoubleSummaryStatistics clocks = HostSensors.clocks();
        List<DeviceSensors.Reading> devices = sensors.stream().flatMap(s -> s.read().stream()).toList();
        double none = clocks.getCount() == 0 ? Double.NaN : 0;
        Sample sample = new Sample((System.nanoTime() - start) / 1e9, none + clocks.getAverage(), none + clocks.getMin(), HostSensors.systemLoad(),
                HostSensors.processLoad(), HostSensors.freeBytes(), devices);
        synchronized (samples) {
            samples.add(sample);
        }
    }

    /** What was seen so far. */
    public List<Sample> samples() {
        synchronized (samples) {
            return List.copyOf(samples);
        }
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sensors.forEach(DeviceSensors::close);
    }
}
