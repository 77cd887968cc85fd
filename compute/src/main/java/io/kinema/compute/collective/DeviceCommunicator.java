package io.kinema.compute.collective;

/**
 * Owns one rank's end of a group whose tensors lie on devices, until it is closed; closing twice is harmless, and is not collective: ranks close after
 * a failure too. Reductions and gathers take tensors of the rank's device, and are enqueued behind the backend's earlier operations. An operation that
 * cannot finish because another rank failed ends with an exception within the group's timeout.
 */
public interface DeviceCommunicator extends Communicator, AutoCloseable {
    @Override
    void close();
}
