package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.engine.BadRequestException;
import org.junit.jupiter.api.Test;

class RankDevicesTest {
    @Test
    void ranksOnTheHostNeedNoListAndOthersADeviceEach() {
        assertThat(RankDevices.of("cpu", 4).devices()).hasSize(4).containsOnly("cpu");
        assertThat(RankDevices.of("cuda:0,1", 2).devices()).containsExactly("cuda:0", "cuda:1");
        assertThat(RankDevices.of("cuda:1,cuda:0", 2).devices()).containsExactly("cuda:1", "cuda:0");
        assertThat(RankDevices.label(RankDevices.of("cuda:0,0,0,0", 4).devices())).isEqualTo("cuda:0,0,0,0");
    }

    @Test
    void otherNumbersAndMixturesAreRefused() {
        assertThatThrownBy(() -> RankDevices.of("cuda:0", 2)).isInstanceOf(BadRequestException.class).hasMessageContaining("such as cuda:0,1");
        assertThatThrownBy(() -> RankDevices.of("cuda:0,1", 1)).isInstanceOf(BadRequestException.class).hasMessageContaining("add --tensor-parallel 2");
        assertThatThrownBy(() -> RankDevices.of("cuda:0,", 2)).isInstanceOf(BadRequestException.class).hasMessageContaining("on both sides of each comma");
        assertThatThrownBy(() -> RankDevices.of("cuda:0,1,2", 1)).isInstanceOf(BadRequestException.class).hasMessageContaining("name cuda:0 alone");
        assertThatThrownBy(() -> RankDevices.of("cuda:0,0,1,1", 4)).isInstanceOf(BadRequestException.class).hasMessageContaining("cuda:0,0,1,1")
                .hasMessageContaining("some ranks share one and others do not");
    }
}
