package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.reference.ReferenceBackend;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlacementTest {
    private static final Device FIRST = new Device(Device.Kind.CUDA, 0);
    private static final Device SECOND = new Device(Device.Kind.CUDA, 1);

    @Test
    void ranksShareOneDeviceOrHaveOneEach() {
        assertThat(Placement.of(List.of(Device.CPU, Device.CPU))).isEqualTo(Placement.HOST);
        assertThat(Placement.of(List.of(FIRST, FIRST))).isEqualTo(Placement.ONE_DEVICE);
        assertThat(Placement.of(List.of(SECOND, FIRST))).isEqualTo(Placement.ONE_EACH);
        assertThat(Placement.of(List.of(SECOND))).isEqualTo(Placement.ONE_DEVICE);
    }

    @Test
    void whatLiesInBetweenIsRefused() {
        assertThatThrownBy(() -> Placement.of(List.of(FIRST, FIRST, SECOND, SECOND))).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("ranks: got devices [cuda:0, cuda:0, cuda:1, cuda:1], expected one device for all ranks or one for each, all of one kind");
        assertThatThrownBy(() -> Placement.of(List.of(Device.CPU, FIRST))).hasMessageContaining("[cpu, cuda:0]");
    }

    @Test
    void aBackendOnTheHostNeedsNoOtherCommunicator() {
        try (RankGroup group = RankGroup.open(2, Duration.ofSeconds(60))) {
            assertThat(group.each(rank -> {
                try (Backend backend = new ReferenceBackend()) {
                    return rank.on(backend) == rank;
                }
            })).containsOnly(true);
        }
    }
}
