package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.Tensor;
import io.kinema.compute.reference.ReferenceBackend;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackendGroupTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    private static List<Backend> references(int n) {
        return IntStream.range(0, n).<Backend>mapToObj(_ -> new ReferenceBackend()).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void everyRankHasABackendOfItsOwnAndClosesWithTheGroup(int size) {
        List<Backend> backends = references(size);
        BackendGroup group = BackendGroup.of(backends, LONG);
        assertThat(group.each(BackendGroup.Member::backend)).isEqualTo(backends);
        assertThat(group.each(member -> member.ranks().rank() + "/" + member.ranks().size()))
                .isEqualTo(IntStream.range(0, size).mapToObj(rank -> rank + "/" + size).toList());
        group.close();
        group.close();
        backends.forEach(backend -> assertThatThrownBy(backend::finish).isInstanceOf(IllegalStateException.class));
    }

    @Test
    void countsWhatRanksGive() {
        try (BackendGroup group = BackendGroup.of(references(2), LONG)) {
            group.each(member -> {
                member.ranks().allReduce(Tensor.ofFloats(new float[6], 3, 2));
                member.ranks().allGather(Tensor.ofFloats(new float[2], 1, 2), Tensor.ofFloats(new float[4], 2, 2));
                member.ranks().barrier();
                return 0;
            });
            List<Traffic> first = group.traffic();
            assertThat(first).allSatisfy(traffic -> {
                assertThat(traffic.calls()).isEqualTo(2);
                assertThat(traffic.bytes()).isEqualTo(8 * Float.BYTES);
                assertThat(traffic.seconds()).isPositive();
            });
            assertThat(group.traffic().getFirst().minus(first.getFirst())).isEqualTo(Traffic.NONE);
        }
    }

    /** No provider joins a device that no module of this build has: refused by name, and nothing stays open. */
    @Test
    void devicesThatNobodyJoinsAreRefused() {
        List<String> closed = new ArrayList<>();
        List<Backend> backends = IntStream.range(0, 2).mapToObj(index -> elsewhere(index, closed)).toList();
        assertThatExceptionOfType(DeviceUnavailableException.class).isThrownBy(() -> BackendGroup.of(backends, LONG))
                .withMessageContaining("ranks on [cuda:0, cuda:1]").withMessageContaining("use one rank");
        assertThat(closed).containsExactly("cuda:0", "cuda:1");
    }

    private static Backend elsewhere(int index, List<String> closed) {
        return (Backend) Proxy.newProxyInstance(BackendGroupTest.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            Device device = new Device(Device.Kind.CUDA, index);
            if (method.getName().equals("close")) {
                closed.add(device.toString());
            }
            return method.getName().equals("device") ? device : null;
        });
    }
}
