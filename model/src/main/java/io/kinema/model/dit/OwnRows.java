package io.kinema.model.dit;

import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.RowShares;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.Linear;
import io.kinema.model.layer.PreparedInput;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Each residual row lives on one rank, which alone normalises it and adds to it. The sequence is padded so that every rank has room for as many;
 * padding lies behind the last row, travels in gathers and is read by nothing: products and attention see the rows that there are, as many as without
 * sharing out, so that each of their results has the same bits, and so have the sums, which the {@link RowReduction} makes in the all-reduce's order.
 */
record OwnRows(RowShares shares, int rank, int hidden, RowReduction reduction) implements ResidualRows {
    @Override
    public Tensor start(Execution run, Supplier<Tensor> packed) {
        Tensor own = run.scratch().f32(shares.each(), hidden);
        Tensor kept = own.rows(0, count());
        try (Workspace.Frame _ = run.scratch().frame()) {
            run.backend().copy(packed.get().rows(shares.from(rank), shares.to(rank)), kept);
        }
        return kept;
    }

    private int count() {
        return shares.count(rank);
    }

    @Override
    public Tensor own(Tensor perRow) {
        return perRow.rows(shares.from(rank), shares.to(rank));
    }

    @Override
    public Tensor branch(Execution run, Consumer<Tensor> norm, List<Linear> readers, Branch branch) {
        Tensor partial = run.scratch().f32(shares.rows(), hidden);
        try (Workspace.Frame _ = run.scratch().frame()) {
            // Where no layer reads the rows as they are, each rank rotates its own: as many rotations less as there are other ranks.
            Optional<Rotation> rotation = PreparedInput.soleRotation(readers);
            Tensor all = run.operands(shares.padded(), hidden);
            try (Workspace.Frame _ = run.scratch().frame()) {
                Tensor part = run.operands(shares.each(), hidden);
                norm.accept(part.rows(0, count()));
                run.ranks().allGather(rotation.map(r -> run.backend().rotate(Operand.of(part), r, run.scratch()).values()).orElse(part), all);
            }
            branch.partial(new Operand(all.rows(0, shares.rows()), Optional.empty(), rotation), partial);
        }
        return reduction.reduce(run.ranks(), partial, shares);
    }

    @Override
    public Tensor whole(Execution run, Tensor own) {
        Tensor all = run.scratch().f32(shares.padded(), hidden);
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor part = run.scratch().f32(shares.each(), hidden);
            run.backend().copy(own, part.rows(0, count()));
            run.ranks().allGather(part, all);
        }
        return all.rows(0, shares.rows());
    }

    @Override
    public void stage(Execution run, StageTap tap, String name, Tensor own) {
        if (tap.wants(name)) {
            try (Workspace.Frame _ = run.scratch().frame()) {
                tap.stage(name, whole(run, own));
            }
        }
    }
}
