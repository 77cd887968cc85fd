package io.kinema.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.Fallback;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.CommunicatorProvider;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.cuda.driver.StandInDriver;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.SearchPath;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuRanksTest {
    private static final Device FIRST = new Device(Device.Kind.CUDA, 0);
    private static final Device SECOND = new Device(Device.Kind.CUDA, 1);

    @Test
    void ranksShareOneGpuOrHaveOneEach() {
        assertThat(GpuRanks.shared(List.of(SECOND, SECOND))).isTrue();
        assertThat(GpuRanks.shared(List.of(SECOND, FIRST))).isFalse();
        assertThatThrownBy(() -> GpuRanks.shared(List.of(FIRST, FIRST, SECOND, SECOND))).isInstanceOf(DeviceUnavailableException.class)
                .hasMessage("ranks on [cuda:0, cuda:0, cuda:1, cuda:1]: some share a GPU and others do not, expected one GPU for all or one for each");
    }

    @Test
    void theServiceJoinsRanksOnGpusAndNoOthers() {
        List<CommunicatorProvider> all = ServiceLoader.load(CommunicatorProvider.class).stream().map(ServiceLoader.Provider::get).toList();
        assertThat(all).hasSize(1);
        assertThat(all.getFirst().serves(List.of(FIRST, SECOND))).isTrue();
        assertThat(all.getFirst().serves(List.of(FIRST, Device.CPU))).isFalse();
        try (ReferenceBackend other = new ReferenceBackend()) {
            assertThatThrownBy(() -> all.getFirst().join(Communicator.ALONE, other)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("got a backend reference");
        }
    }

    /** Two GPUs, no NCCL anywhere: their kernels read each other's memory where they can, and the record says so. */
    @Test
    void withoutNcclGpusThatReachEachOtherAreJoinedByTheirBuffers(@TempDir Path nothing) {
        StandInDriver driver = StandInGpu.driver(true);
        List<GpuRanks.Joined> joined = joined(driver, nothing);
        assertThat(joined).allSatisfy(one -> {
            assertThat(one.end()).isInstanceOf(PeerRing.class);
            assertThat(one.fallback()).contains(new Fallback("collectives", "NCCL", "peer buffers", "NCCL is not found"));
        });
        assertThat(driver.opened()).isEqualTo(2);
    }

    @Test
    void gpusThatNothingJoinsAreRefusedWithWhatWouldHelp(@TempDir Path nothing) {
        assertThatThrownBy(() -> joined(StandInGpu.driver(false), nothing)).isInstanceOf(DeviceUnavailableException.class)
                .hasMessageContaining("[cuda:0, cuda:1]").hasMessageContaining("NCCL not found in ").hasMessageContaining("; install NCCL 2").hasMessageContaining("do not reach each other's memory");
    }

    private static List<GpuRanks.Joined> joined(StandInDriver driver, Path libraries) {
        LibraryFinder finder = new LibraryFinder(SearchPath.of(Map.of(SearchPath.HOME_VARIABLE, libraries.toString())::get, libraries));
        try (RankGroup group = RankGroup.open(2, Duration.ofMinutes(10))) {
            List<StandInGpu> gpus = group.each(host -> new StandInGpu(driver, host.rank(), 1L << 28));
            try {
                return group.each(host -> GpuRanks.join(host, gpus.get(host.rank()).gpu(), finder));
            } finally {
                gpus.forEach(StandInGpu::close);
            }
        }
    }
}
