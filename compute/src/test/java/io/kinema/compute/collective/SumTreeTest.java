package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SumTreeTest {
    private static final float B = 1 << 24;

    /** The published table of four probes, tree by tree. */
    private static final String FOUR_PROBES = "0022 2022 0222 1121 1212 2122 2221 2212 2111 1222 2220 2210 1122 2202 2201";

    @Test
    void fourProbesGiveThePublishedSignatures() {
        List<SumProbe> probes = List.of(new SumProbe(-B, 1, 1, B), new SumProbe(-B, 1, B, 1), new SumProbe(B, -B, 1, 1), new SumProbe(B, 1, -B, 1));
        String table = SumTree.ALL.stream().map(tree -> probes.stream().map(probe -> Integer.toString((int) probe.expected(tree))).collect(Collectors.joining()))
                .collect(Collectors.joining(" "));
        assertThat(table).isEqualTo(FOUR_PROBES);
    }

    @Test
    void tenProbesTellAllTreesApartEvenWhenOneIsCorrupted() {
        for (SumTree one : SumTree.ALL) {
            for (SumTree other : SumTree.ALL) {
                long differing = SumProbe.ALL.stream().filter(probe -> probe.expected(one) != probe.expected(other)).count();
                assertThat(differing).as("%s and %s", one, other).isGreaterThanOrEqualTo(one == other ? 0 : 3);
            }
        }
        assertThat(SumProbe.ALL).hasSize(10).doesNotHaveDuplicates();
    }

    @Test
    void noTreeAnswersTheExactSumToEveryProbe() {
        assertThat(SumTree.ALL).noneMatch(tree -> SumProbe.ALL.stream().allMatch(probe -> probe.expected(tree) == 2));
    }

    @Test
    void everyWayToAddFourValuesIsThereOnce() {
        Set<String> written = new HashSet<>();
        SumTree.ALL.forEach(tree -> written.add(tree.toString()));
        assertThat(written).hasSize(15);
        assertThat(SumTree.ALL.stream().filter(tree -> tree.toString().startsWith("(("))).hasSize(12);
    }

    @Property
    void loopsAddAsSingleSumsDo(@ForAll float a, @ForAll float b, @ForAll float c, @ForAll float d) {
        float[][] values = {{a, a}, {b, b}, {c, c}, {d, d}};
        for (SumTree tree : SumTree.ALL) {
            float[] out = new float[2];
            tree.sum(values, 1, 1, out);
            assertThat(out).isEqualTo(new float[] {0, tree.sum(a, b, c, d)});
        }
    }
}
