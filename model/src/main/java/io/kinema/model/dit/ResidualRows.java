package io.kinema.model.dit;

import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.Linear;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Where the FP32 residual rows of one evaluation lie: all of them on every rank, or each on one. Norms, modulation and gates work row by row
 * and so run where a row lies; products and attention read every row. Owns nothing; tensors that it makes are scratch memory of the enclosing frame.
 */
interface ResidualRows {
    /** Reads every row and makes a rank's share of what is added to them. */
    @FunctionalInterface
    interface Branch {
        /**
         * @param in  [S, hidden] of the operand type
         * @param out FP32 [S, hidden]; the ranks' results add up
         */
        void partial(Operand in, Tensor out);
    }

    /** The packed rows that this rank keeps. @param packed makes all of them, FP32 [S, hidden] */
    Tensor start(Execution run, Supplier<Tensor> packed);

    /** What belongs to the rows that this rank keeps. @param perRow [S] */
    Tensor own(Tensor perRow);

    /**
     * Runs a branch of a block on every row.
     *
     * @param norm    writes this rank's normalised rows, of the operand type
     * @param readers the layers that read them first
     * @return FP32: this rank's rows of the ranks' sum
     */
    Tensor branch(Execution run, Consumer<Tensor> norm, List<Linear> readers, Branch branch);

    /** All rows, FP32 [S, hidden]. @param own this rank's */
    Tensor whole(Execution run, Tensor own);

    /** Shows all rows to a tap that wants them; with several ranks, taps that want the same. */
    void stage(Execution run, StageTap tap, String name, Tensor own);
}
