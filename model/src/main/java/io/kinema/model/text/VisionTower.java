package io.kinema.model.text;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.RotaryTable;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The vision tower: patches to tokens. Patch projection plus resampled learned positions, pre-norm blocks with 2-D rotary
 * embedding whose attention stays inside a frame, then mergers that turn each merge block of patches into one token; some
 * blocks' outputs get mergers of their own (deepstack). Owned by its {@link TextEncoder}.
 */
final class VisionTower implements AutoCloseable {
    private final Execution run;
    private final VisionConfig config;
    private final VisionWeights.Linear patchEmbed;
    private final PositionGrid positions;
    private final BlockStore<VisionWeights.Block> blocks;
    private final VisionWeights.Merger merger;
    private final List<VisionWeights.Merger> deepstackMergers;

    VisionTower(Execution run, VisionConfig c, Parameters p) {
        this.run = run;
        this.config = c;
        this.patchEmbed = new VisionWeights.Linear(p.kernelMatrix("patch_embed.proj.weight", c.hidden(), c.channels(), c.temporal(), c.patch(), c.patch()),
                p.f32("patch_embed.proj.bias", c.hidden()));
        this.positions = new PositionGrid(p.host("pos_embed.weight", (long) c.gridSide() * c.gridSide(), c.hidden()), c.gridSide(), c.hidden());
        this.blocks = BlockStore.resident(c.depth(), i -> VisionWeights.Block.read(p.under("blocks." + i + "."), c));
        this.merger = VisionWeights.Merger.read(p.under("merger."), c, false);
        this.deepstackMergers = IntStream.range(0, c.deepstack().size())
                .mapToObj(i -> VisionWeights.Merger.read(p.under("deepstack_merger_list." + i + "."), c, true)).toList();
    }

    /**
     * @param merged    FP32 [tokens, text hidden]
     * @param deepstack the same shape, one for each of the first text layers
     */
    record Features(Tensor merged, List<Tensor> deepstack) {
    }

    /**
     * @param owner of the result
     * @param name  put before stage names: {@code call0_}
     */
    Features forward(VisionInput input, Workspace owner, String name, StageTap tap) {
        requireGrids(input);
        int patches = input.pixels().size(0);
        Tensor merged = owner.f32(patches / config.patchesPerToken(), config.outHidden());
        Tensor[] deepstack = new Tensor[deepstackMergers.size()];
        for (int i = 0; i < deepstack.length; i++) {
            deepstack[i] = owner.f32(merged.shape().toArray());
        }
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor x = embed(input, name, tap);
            Rotary rotary = rotary(input.grids(), patches);
            for (int i = 0; i < blocks.count(); i++) {
                try (BlockStore.Lease<VisionWeights.Block> lease = blocks.acquire(i)) {
                    block(lease.weights(), x, input.grids(), rotary);
                }
                tapBlock(i, x, name, tap);
                int stacked = config.deepstack().indexOf(i);
                if (stacked >= 0) {
                    merge(deepstackMergers.get(stacked), x, deepstack[stacked]);
                    tap.stage(name + "deepstack" + stacked, deepstack[stacked]);
                }
            }
            merge(merger, x, merged);
        }
        tap.stage(name + "merged", merged);
        return new Features(merged, List.of(deepstack));
    }

    private Tensor embed(VisionInput input, String name, StageTap tap) {
        Tensor x = run.scratch().f32(input.pixels().size(0), config.hidden());
        try (Workspace.Frame _ = run.scratch().frame()) {
            linear(run.prepare(Execution.placed(run.backend(), run.scratch(), input.pixels())), patchEmbed, x);
            tap.stage(name + "vision_patch_embed", x);
            run.backend().gatedResidualAdd(x, positions(input.grids(), x.size(0)), Optional.empty());
        }
        return x;
    }

    private Tensor positions(List<PatchGrid> grids, int patches) {
        float[] rows = new float[Math.multiplyExact(patches, config.hidden())];
        PatchOrder.walk(grids, config.merge(), (i, row, column, grid) ->
                positions.write(row, grid.height(), column, grid.width(), rows, i * config.hidden()));
        return Execution.upload(run.backend(), run.scratch(), rows, patches, config.hidden());
    }

    /** The first half of a head's angle pairs turns by the patch's row, the second by its column. */
    private Rotary rotary(List<PatchGrid> grids, int patches) {
        int[] rows = new int[patches];
        int[] columns = new int[patches];
        PatchOrder.walk(grids, config.merge(), (i, row, column, grid) -> {
            rows[i] = row;
            columns[i] = column;
        });
        float[] axis = RotaryTable.inverseFrequencies(config.ropeTheta(), config.headDim() / 2);
        float[] both = new float[2 * axis.length];
        System.arraycopy(axis, 0, both, 0, axis.length);
        System.arraycopy(axis, 0, both, axis.length, axis.length);
        return RotaryTable.build(run.backend(), run.scratch(), patches, both, (i, pair) -> pair < axis.length ? rows[i] : columns[i]);
    }

    private void block(VisionWeights.Block w, Tensor x, List<PatchGrid> grids, Rotary rotary) {
        Backend backend = run.backend();
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor normed = run.operands(x.shape().toArray());
            Tensor branch = run.scratch().f32(x.shape().toArray());
            norm(w.norm1(), x, normed);
            attention(w, normed, grids, rotary, branch);
            backend.gatedResidualAdd(x, branch, Optional.empty());
            norm(w.norm2(), x, normed);
            Tensor inner = run.scratch().f32(x.size(0), config.ffn());
            linear(Operand.of(normed), w.first(), inner);
            backend.geluTanh(inner, inner);
            linear(run.prepare(inner), w.second(), branch);
            backend.gatedResidualAdd(x, branch, Optional.empty());
        }
    }

    private void attention(VisionWeights.Block w, Tensor x, List<PatchGrid> grids, Rotary rotary, Tensor out) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            int hidden = config.hidden();
            Tensor qkv = run.operands(x.size(0), 3L * hidden);
            linear(Operand.of(x), w.qkv(), qkv);
            Tensor q = heads(qkv, 0);
            Tensor k = heads(qkv, 1);
            Tensor v = heads(qkv, 2);
            run.backend().headNormRotary(q, Optional.empty(), Optional.of(rotary), q);
            run.backend().headNormRotary(k, Optional.empty(), Optional.of(rotary), k);
            Tensor mixed = run.scratch().f32(x.size(0), config.heads(), config.headDim());
            float scale = (float) (1 / Math.sqrt(config.headDim()));
            int from = 0;
            for (PatchGrid grid : grids) {
                for (int frames = 0; frames < grid.frames(); frames++) {
                    int to = from + grid.height() * grid.width();
                    run.backend().attention(q.rows(from, to), k.rows(from, to), v.rows(from, to), scale, false, mixed.rows(from, to));
                    from = to;
                }
            }
            linear(run.prepare(mixed.reshape(x.size(0), hidden)), w.projection(), out);
        }
    }

    private Tensor heads(Tensor qkv, int part) {
        return qkv.slice(1, (long) part * config.hidden(), (part + 1L) * config.hidden()).splitLast(config.heads(), config.headDim());
    }

    private void merge(VisionWeights.Merger w, Tensor x, Tensor out) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            long tokens = out.size(0);
            Tensor normed = run.operands(x.shape().toArray());
            Tensor blocksOfPatches = normed.reshape(tokens, -1);
            if (w.mergedNorm()) {
                norm(w.norm(), x.reshape(tokens, -1), blocksOfPatches);
            } else {
                norm(w.norm(), x, normed);
            }
            Tensor inner = run.scratch().f32(blocksOfPatches.shape().toArray());
            linear(Operand.of(blocksOfPatches), w.first(), inner);
            run.backend().geluErf(inner, inner);
            linear(run.prepare(inner), w.second(), out);
        }
    }

    private void norm(VisionWeights.Norm w, Tensor x, Tensor out) {
        run.backend().layerNorm(x, Optional.of(w.weight()), Optional.of(w.bias()), VisionWeights.Norm.EPS, out);
    }

    private void linear(Operand x, VisionWeights.Linear w, Tensor out) {
        run.backend().linear(x, w.weight(), Optional.of(w.bias()), out);
    }

    private void tapBlock(int index, Tensor x, String name, StageTap tap) {
        tap.stage(name + "vision_block" + index, x);
        if (index == blocks.count() - 1) {
            tap.stage(name + "vision_block_last", x);
        }
    }

    private void requireGrids(VisionInput input) {
        if (input.pixels().size(1) != config.pixelsPerRow()) {
            throw new IllegalArgumentException("vision input: got pixels " + input.pixels() + ", expected rows of " + config.pixelsPerRow() + " values");
        }
        for (PatchGrid grid : input.grids()) {
            if (grid.height() % config.merge() != 0 || grid.width() % config.merge() != 0) {
                throw new IllegalArgumentException("vision input: got " + grid + ", expected height and width to be multiples of " + config.merge());
            }
        }
    }

    @Override
    public void close() {
        blocks.close();
    }
}
