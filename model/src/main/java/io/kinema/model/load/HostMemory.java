package io.kinema.model.load;

import io.kinema.compute.Backend;
import io.kinema.compute.PageLockedMemory;
import io.kinema.weights.HeldTensors;
import java.util.Optional;

/** Finds the host memory that a choice of host weights means on a backend. */
public final class HostMemory {
    private HostMemory() {
    }

    /**
     * Where copies of weights lie; empty where none are made.
     *
     * @throws IllegalArgumentException for page-locked memory of a backend that copies to no device
     */
    public static Optional<HeldTensors.Memory> of(Backend backend, HostWeights weights) {
        return switch (weights) {
            case MMAP -> Optional.empty();
            case PAGEABLE -> Optional.of(HeldTensors.Memory.PAGEABLE);
            case PINNED -> {
                PageLockedMemory locked = backend.pageLockedMemory().orElseThrow(() -> new IllegalArgumentException(refusal(backend.device().toString())));
                yield Optional.of(locked::allocate);
            }
        };
    }

    /** Why a device that is the host takes no page-locked weights. */
    public static String refusal(String device) {
        return "got pinned on device " + device + ", expected mmap or pageable, since nothing is copied to a device there; "
                + "leave --host-weights out, or add --device cuda:0";
    }
}
