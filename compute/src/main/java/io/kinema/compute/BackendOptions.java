package io.kinema.compute;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * How a device is to be used; what is empty is the backend's own choice.
 *
 * @param attention      name of the kernels for 16-bit attention
 * @param queryTile      rows of queries that one block of attention takes
 * @param architecture   compute capability whose kernels to use instead of the device's own, such as 70
 * @param maxMemoryBytes most device memory to hold
 */
public record BackendOptions(Optional<String> attention, OptionalInt queryTile, OptionalInt architecture, OptionalLong maxMemoryBytes) {
    /** The backend's own choices. */
    public static final BackendOptions DEFAULTS = new BackendOptions(Optional.empty(), OptionalInt.empty(), OptionalInt.empty(), OptionalLong.empty());
}
