package io.kinema.compute.collective;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import java.util.List;

/**
 * Joins ranks whose tensors lie on devices. Found by {@link java.util.ServiceLoader}, so that this room need not know the libraries; ranks on the
 * host need none ({@link RankGroup} joins them itself).
 */
public interface CommunicatorProvider {
    /**
     * True when it joins ranks on these devices. It opens nothing, and says so of devices only, not of what this machine has.
     *
     * @param devices of the ranks in their order; one device may stand there more than once
     */
    boolean serves(List<Device> devices);

    /**
     * Makes one rank's end. Collective: every rank calls it at once, on its own thread.
     *
     * @param host    this rank's end of the host's group, for what the ranks have to tell each other first; it outlives the result
     * @param backend of this rank; its operations and those of the result are enqueued in one order. It outlives the result
     * @return owned by the caller, who closes it on this thread
     * @throws io.kinema.compute.DeviceUnavailableException with one line that says what is missing and what to do
     */
    DeviceCommunicator join(Communicator host, Backend backend);
}
