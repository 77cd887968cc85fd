package io.kinema.compute.collective;

/** A backend whose tensors need a communicator of their own, because they do not lie in host memory. */
public interface RankDevice {
    /**
     * Makes this rank's end for tensors of this device; collective.
     *
     * @param host      this rank's end of the group, for everything that is not a tensor
     * @param placement of the ranks, never {@link Placement#HOST}
     * @return owned by the backend, dies with it
     */
    Communicator communicator(Communicator host, Placement placement);
}
