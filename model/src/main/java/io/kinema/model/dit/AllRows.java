package io.kinema.model.dit;

import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.Linear;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Every rank keeps all residual rows and does on them what every other does. */
record AllRows(int rows, int hidden) implements ResidualRows {
    @Override
    public Tensor start(Execution run, Supplier<Tensor> packed) {
        return packed.get();
    }

    @Override
    public Tensor own(Tensor perRow) {
        return perRow;
    }

    @Override
    public Tensor branch(Execution run, Consumer<Tensor> norm, List<Linear> readers, Branch branch) {
        Tensor normed = run.operands(rows, hidden);
        norm.accept(normed);
        Tensor sum = run.scratch().f32(rows, hidden);
        branch.partial(Operand.of(normed), sum);
        run.ranks().allReduce(sum);
        return sum;
    }

    @Override
    public Tensor whole(Execution run, Tensor own) {
        return own;
    }

    @Override
    public void stage(Execution run, StageTap tap, String name, Tensor own) {
        tap.stage(name, own);
    }
}
