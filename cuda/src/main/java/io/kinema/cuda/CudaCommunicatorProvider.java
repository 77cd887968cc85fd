package io.kinema.cuda;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.CommunicatorProvider;
import io.kinema.compute.collective.DeviceCommunicator;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaUnavailableException;
import java.util.List;

/** Joins ranks on GPUs. */
public final class CudaCommunicatorProvider implements CommunicatorProvider {
    @Override
    public boolean serves(List<Device> devices) {
        return devices.stream().allMatch(device -> device.kind() == Device.Kind.CUDA);
    }

    @Override
    public DeviceCommunicator join(Communicator host, Backend backend) {
        if (!(backend instanceof CudaBackend gpu)) {
            throw new IllegalArgumentException("ranks on GPUs: got a backend " + backend.name() + ", expected one that this build opened");
        }
        try {
            return gpu.join(host);
        } catch (CudaUnavailableException | CudaException | LinkageError e) {
            throw new DeviceUnavailableException("rank " + host.rank() + " on " + backend.device() + ": " + e.getMessage(), e);
        }
    }
}
