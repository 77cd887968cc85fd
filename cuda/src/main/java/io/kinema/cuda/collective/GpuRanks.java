package io.kinema.cuda.collective;

import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.DeviceCommunicator;
import io.kinema.compute.collective.RingOrder;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.nccl.Nccl;
import java.util.List;
import java.util.Optional;

/** Decides who joins ranks on GPUs: NCCL where each has one of its own, kernels that read the ranks' buffers where they share one. */
public final class GpuRanks {
    private GpuRanks() {
    }

    /**
     * How a rank was joined.
     *
     * @param end  the rank's
     * @param nccl NCCL's version; empty when kernels read the ranks' buffers
     */
    public record Joined(DeviceCommunicator end, Optional<String> nccl) {
    }

    /**
     * Collective.
     *
     * @throws DeviceUnavailableException when some ranks share a GPU and others do not, or NCCL is missing
     */
    public static Joined join(Communicator host, RankGpu gpu, LibraryFinder finder) {
        List<Device> devices = host.exchange(gpu.operations().device());
        if (shared(devices)) {
            return new Joined(new PeerRing(host, gpu, RingOrder.CHUNK), Optional.empty());
        }
        LibraryFinder.Found found = finder.find(CudaLibrary.NCCL);
        if (found.symbols().isEmpty()) {
            throw new DeviceUnavailableException("ranks on " + devices + ": " + CudaLibrary.NCCL.title() + " " + found.why(), null);
        }
        Nccl nccl = Nccl.load(found);
        return new Joined(new NcclRing(host, gpu, nccl), Optional.of(nccl.version()));
    }

    /** True when all ranks share one GPU, false when each has one of its own. */
    static boolean shared(List<Device> devices) {
        long distinct = devices.stream().distinct().count();
        if (distinct == 1) {
            return true;
        }
        if (distinct < devices.size()) {
            throw new DeviceUnavailableException("ranks on " + devices + ": some share a GPU and others do not, expected one GPU for all or one for each", null);
        }
        return false;
    }
}
