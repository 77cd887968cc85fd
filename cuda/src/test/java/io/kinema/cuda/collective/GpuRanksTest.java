package io.kinema.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.CommunicatorProvider;
import io.kinema.compute.reference.ReferenceBackend;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

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
}
