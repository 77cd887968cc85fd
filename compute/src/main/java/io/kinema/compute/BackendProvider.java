package io.kinema.compute;

import java.util.List;
import java.util.Optional;

/** Opens backends of one kind of device. Found by {@link java.util.ServiceLoader}, so that rooms above need not know it. */
public interface BackendProvider {
    /** What a user writes to name its devices, for messages: {@code cuda:N}. */
    String devices();

    /** True when {@code device} is written as this provider's devices are; whether there is one is found out by opening it. */
    boolean serves(String device);

    /**
     * Checks what can be checked without opening anything.
     *
     * @throws IllegalArgumentException with one line that says what is allowed
     */
    void check(String device, BackendOptions options);

    /**
     * Opens the device.
     *
     * @throws DeviceUnavailableException with one line that says what is missing on this machine and what to do
     */
    Backend open(String device, BackendOptions options);

    /** The sensors of its devices; empty where there are none. Opens no device. */
    default Optional<DeviceSensors> sensors() {
        return Optional.empty();
    }

    /** What was looked for on this machine, what was found and why, as label and text, for a user's eyes. */
    List<Finding> findings();

    /**
     * @param label  of what was looked for
     * @param value  what was found
     * @param advice what to do where something is missing that the user asked for; empty otherwise
     */
    record Finding(String label, String value, Optional<String> advice) {
    }
}
