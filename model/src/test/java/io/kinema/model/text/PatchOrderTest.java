package io.kinema.model.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class PatchOrderTest {
    @Property(tries = 200)
    void visitsEveryPatchOnceMergeBlockByMergeBlock(@ForAll @IntRange(min = 1, max = 3) int merge, @ForAll @IntRange(min = 1, max = 3) int frames,
                                                   @ForAll @IntRange(min = 1, max = 5) int blocksDown, @ForAll @IntRange(min = 1, max = 5) int blocksAcross) {
        PatchGrid grid = new PatchGrid(frames, blocksDown * merge, blocksAcross * merge);
        List<int[]> seen = new ArrayList<>();
        PatchOrder.walk(List.of(grid, grid), merge, (index, row, column, of) -> {
            assertThat(index).isEqualTo(seen.size());
            seen.add(new int[] {row, column});
        });
        int perFrame = grid.height() * grid.width();
        assertThat(seen).hasSize(2 * grid.patches());
        for (int from = 0; from < seen.size(); from += perFrame) {
            Set<Integer> places = new HashSet<>();
            seen.subList(from, from + perFrame).forEach(p -> places.add(p[0] * grid.width() + p[1]));
            assertThat(places).hasSize(perFrame);
        }
        for (int i = 0; i < seen.size(); i++) {
            int[] first = seen.get(i - i % (merge * merge));
            assertThat(seen.get(i)[0] / merge).isEqualTo(first[0] / merge);
            assertThat(seen.get(i)[1] / merge).isEqualTo(first[1] / merge);
        }
    }
}
