package io.kinema.compute;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a device is to be used.
 *
 * @param attention       name of the attention kernels to use everywhere, the backend's own choice by shape when empty
 * @param maxMemoryBytes  most device memory to hold, all of it when empty
 */
public record BackendOptions(Optional<String> attention, OptionalLong maxMemoryBytes) {
    /** The backend's own choices. */
    public static final BackendOptions DEFAULTS = new BackendOptions(Optional.empty(), OptionalLong.empty());
}
