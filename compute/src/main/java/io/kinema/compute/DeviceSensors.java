package io.kinema.compute;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Owns access to the sensors of a machine's devices (clocks, power, temperature, memory) until it is closed; opens none of the devices.
 * Closing twice is harmless. Used by one thread at a time.
 */
public interface DeviceSensors extends AutoCloseable {
    /** What the sensors show now; devices that do not answer are left out. */
    List<Reading> read();

    @Override
    void close();

    /**
     * One device's sensors.
     *
     * @param device {@code cuda:0}
     * @param values by name with their unit: {@code power_watts}, {@code clock_mhz}, {@code memory_used_bytes}, {@code throttle_reasons}
     */
    record Reading(String device, SortedMap<String, Double> values) {
        public Reading {
            values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
        }
    }
}
