package io.kinema.engine;

import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Where weights live between uses, and how much host memory an engine may hold. The same bits whatever is chosen.
 *
 * @param hostWeights    what host memory weights are read from
 * @param residentLayers with layer offload: layers of the transformer that stay on the device; empty lets the plan choose as many as the
 *                       device's limit allows, and none without a limit
 * @param preparedWeights whether weights are kept as files in the form that products read
 * @param maxHostMemory  most bytes of host memory to hold, mapped files left out, which the system can drop; empty for no limit
 */
public record ResidencyOptions(HostWeights hostWeights, OptionalInt residentLayers, OptionalLong maxHostMemory, PreparedWeightsOptions preparedWeights) {
    /** Mapped files, no limit, prepared weights kept where it pays. */
    public static final ResidencyOptions DEFAULTS = new ResidencyOptions(HostWeights.MMAP, OptionalInt.empty(), OptionalLong.empty(), PreparedWeightsOptions.DEFAULTS);

    public ResidencyOptions {
        Objects.requireNonNull(hostWeights, "hostWeights");
        Objects.requireNonNull(preparedWeights, "preparedWeights");
        if (residentLayers.isPresent() && residentLayers.getAsInt() < 0) {
            throw new BadRequestException("residentLayers", "" + residentLayers.getAsInt(), "expected 0 or more");
        }
        if (maxHostMemory.isPresent() && maxHostMemory.getAsLong() < 1) {
            throw new BadRequestException("maxHostMemory", "" + maxHostMemory.getAsLong(), "expected a number of bytes above 0");
        }
    }

    /** @throws BadRequestException when layers are to stay and none is staged */
    public void requireOffload(Optional<WeightResidency> offload) {
        if (residentLayers.isPresent() && !offload.equals(Optional.of(WeightResidency.LAYER))) {
            throw new BadRequestException("residentLayers", "" + residentLayers.getAsInt(), "expected none without layer offload; add --weight-offload layer");
        }
    }

    /** The same with other host weights. */
    public ResidencyOptions withHostWeights(HostWeights value) {
        return new ResidencyOptions(value, residentLayers, maxHostMemory, preparedWeights);
    }

    /** The same with so many resident layers. */
    public ResidencyOptions withResidentLayers(int value) {
        return new ResidencyOptions(hostWeights, OptionalInt.of(value), maxHostMemory, preparedWeights);
    }

    /** The same with a limit. */
    public ResidencyOptions withMaxHostMemory(long bytes) {
        return new ResidencyOptions(hostWeights, residentLayers, OptionalLong.of(bytes), preparedWeights);
    }

    /** The same with prepared weights kept otherwise. */
    public ResidencyOptions withPreparedWeights(PreparedWeightsOptions value) {
        return new ResidencyOptions(hostWeights, residentLayers, maxHostMemory, value);
    }
}
