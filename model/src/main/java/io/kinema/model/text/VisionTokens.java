package io.kinema.model.text;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.layer.Execution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Vision features of an input's pictures and videos, in the order of their tokens in the text.
 *
 * @param index    I32 [V]: the text rows of the V vision tokens, ascending
 * @param merged   FP32 [V, hidden], take the place of the tokens' embeddings
 * @param deepstack FP32 [V, hidden] each, added after the first text layers
 */
record VisionTokens(Tensor index, Tensor merged, List<Tensor> deepstack) {

    /** Features of one kind (pictures or videos) and the text rows they belong to, ascending. */
    record Kind(int[] rows, VisionTower.Features features) {
    }

    static VisionTokens join(Backend backend, Workspace owner, List<Kind> kinds) {
        int[] rows = kinds.stream().flatMapToInt(k -> Arrays.stream(k.rows())).sorted().toArray();
        Tensor index = Execution.upload(backend, owner, rows);
        if (kinds.size() == 1) {
            VisionTower.Features only = kinds.getFirst().features();
            return new VisionTokens(index, only.merged(), only.deepstack());
        }
        List<Tensor> places = kinds.stream().map(k -> Execution.upload(backend, owner,
                Arrays.stream(k.rows()).map(r -> Arrays.binarySearch(rows, r)).toArray())).toList();
        int levels = kinds.getFirst().features().deepstack().size();
        Tensor merged = interleave(backend, owner, rows.length, kinds.stream().map(k -> k.features().merged()).toList(), places);
        List<Tensor> deepstack = new ArrayList<>();
        for (int i = 0; i < levels; i++) {
            int level = i;
            deepstack.add(interleave(backend, owner, rows.length, kinds.stream().map(k -> k.features().deepstack().get(level)).toList(), places));
        }
        return new VisionTokens(index, merged, deepstack);
    }

    private static Tensor interleave(Backend backend, Workspace owner, int rows, List<Tensor> parts, List<Tensor> places) {
        Tensor all = owner.f32(rows, parts.getFirst().size(1));
        IntStream.range(0, parts.size()).forEach(i -> backend.scatterRows(parts.get(i), places.get(i), all));
        return all;
    }
}
