package io.kinema.cuda.collective;

import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.Fallback;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.DeviceCommunicator;
import io.kinema.compute.collective.RingOrder;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.nccl.Nccl;
import java.util.List;
import java.util.Optional;

/**
 * Decides who joins ranks on GPUs: NCCL where each has one of its own, kernels that read the ranks' buffers where they share one. Without NCCL, GPUs that reach each
 * other's memory are joined by those kernels too.
 */
public final class GpuRanks {
    private GpuRanks() {
    }

    /**
     * How a rank was joined.
     *
     * @param end      the rank's
     * @param nccl     NCCL's version; empty when kernels read the ranks' buffers
     * @param fallback from NCCL, with the reason
     */
    public record Joined(DeviceCommunicator end, Optional<String> nccl, Optional<Fallback> fallback) {
    }

    /**
     * Collective.
     *
     * @throws DeviceUnavailableException when some ranks share a GPU and others do not, or nothing joins the GPUs
     */
    public static Joined join(Communicator host, RankGpu gpu, LibraryFinder finder) {
        List<RankGpu> all = host.exchange(gpu);
        List<Device> devices = all.stream().map(g -> g.operations().device()).toList();
        if (shared(devices)) {
            return new Joined(peers(host, gpu), Optional.empty(), Optional.empty());
        }
        LibraryFinder.Found found = finder.find(CudaLibrary.NCCL);
        if (found.symbols().isPresent()) {
            Nccl nccl = Nccl.load(found);
            return new Joined(new NcclRing(host, gpu, nccl), Optional.of(nccl.version()), Optional.empty());
        }
        if (!reach(host, gpu, all)) {
            throw new DeviceUnavailableException("ranks on " + devices + ": " + CudaLibrary.NCCL.title() + " " + found.why()
                    + "; the GPUs do not reach each other's memory either", null);
        }
        return new Joined(peers(host, gpu), Optional.empty(), Optional.of(new Fallback("collectives", "NCCL", "peer buffers", "NCCL is not found")));
    }

    private static PeerRing peers(Communicator host, RankGpu gpu) {
        return new PeerRing(host, gpu, RingOrder.CHUNK);
    }

    /** Lets this rank's kernels use the others' memory. Collective. @return false when some GPU cannot */
    static boolean reach(Communicator host, RankGpu gpu, List<RankGpu> all) {
        List<GpuContext> others = all.stream().map(RankGpu::context).filter(c -> c.facts().index() != gpu.context().facts().index()).toList();
        if (!host.agree(others.stream().allMatch(gpu.context()::reaches))) {
            return false;
        }
        gpu.context().makeCurrent();
        others.forEach(gpu.context()::openTo);
        return true;
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
