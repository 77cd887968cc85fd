package io.kinema.measure.telemetry;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.DeviceSensors;
import java.util.List;
import java.util.Map;

/**
 * The machine at one moment. A value that the system does not tell is NaN, and null in JSON.
 *
 * @param seconds     since sampling began
 * @param meanMhz     mean of the cores' clocks
 * @param leastMhz    the slowest core's clock
 * @param systemLoad  share of all cores in use, 0 to 1
 * @param processLoad share of all cores that this process uses
 * @param freeBytes   physical memory that is free
 * @param devices     sensors of devices
 */
public record Sample(double seconds, double meanMhz, double leastMhz, double systemLoad, double processLoad, long freeBytes,
                     List<DeviceSensors.Reading> devices) {
    public Sample {
        devices = List.copyOf(devices);
    }

    /** Share of all cores that other processes use; NaN when unknown. */
    public double otherLoad() {
        return Math.max(0, systemLoad - processLoad);
    }

    /** One line of {@code telemetry.jsonl}. */
    public ObjectNode toJson() {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        put(node, "seconds", seconds);
        put(node, "cpu_mean_mhz", meanMhz);
        put(node, "cpu_least_mhz", leastMhz);
        put(node, "system_load", systemLoad);
        put(node, "process_load", processLoad);
        node.put("free_bytes", freeBytes);
        ObjectNode sensors = node.putObject("devices");
        for (DeviceSensors.Reading reading : devices) {
            ObjectNode device = sensors.putObject(reading.device());
            for (Map.Entry<String, Double> value : reading.values().entrySet()) {
                put(device, value.getKey(), value.getValue());
            }
        }
        return node;
    }

    private static void put(ObjectNode node, String name, double value) {
        if (Double.isFinite(value)) {
            node.put(name, value);
        } else {
            node.putNull(name);
        }
    }
}
