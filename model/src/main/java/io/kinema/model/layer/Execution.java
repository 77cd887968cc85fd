package io.kinema.model.layer;

import io.kinema.compute.Backend;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.work.WorkCounter;
import io.kinema.weights.DType;

/**
 * What a layer needs to run: where, with which rounding points, and scratch memory. Owns nothing.
 *
 * @param scratch layers open frames on it and close them before they return
 * @param work    counts what the layers execute
 * @param ranks   who else runs the same layers, each with its share of heads and channels
 */
public record Execution(Backend backend, Precision precision, Workspace scratch, WorkCounter work, Communicator ranks) {
    /** With a counter of its own and without other ranks. */
    public Execution(Backend backend, Precision precision, Workspace scratch) {
        this(backend, precision, scratch, new WorkCounter(), Communicator.ALONE);
    }

    /** For layers that every rank runs whole: their work counts once, on the first. */
    public Execution replicated() {
        return ranks.rank() == 0 ? this : new Execution(backend, precision, scratch, new WorkCounter(), ranks);
    }

    /** The same with FP32 operands, for the islands that no plan rounds. */
    public Execution fp32() {
        return precision == Precision.FP32 ? this : new Execution(backend, Precision.FP32, scratch, work, ranks);
    }

    /** The type of matrix operands. */
    public DType operand() {
        return precision.operand();
    }

    /** FP32 rows as a matrix operand, in scratch memory of the enclosing frame where that takes a copy. */
    public Operand prepare(Tensor rows) {
        return backend.prepare(rows, operand(), scratch);
    }

    /** A scratch tensor of the operand type. */
    public Tensor operands(long... dims) {
        return scratch.allocate(operand(), dims);
    }

    /** {@code tensor} itself where the backend computes, else a copy there in {@code owner}'s memory. */
    public static Tensor placed(Backend backend, Workspace owner, Tensor tensor) {
        if (tensor.device().equals(backend.device())) {
            return tensor;
        }
        Tensor copy = owner.allocate(tensor.dtype(), tensor.shape().toArray());
        backend.copy(tensor, copy);
        return copy;
    }

    /** {@code values} as an FP32 tensor in {@code owner}'s memory. */
    public static Tensor upload(Backend backend, Workspace owner, float[] values, long... dims) {
        Tensor t = owner.f32(dims);
        backend.copy(Tensor.ofFloats(values, dims), t);
        return t;
    }

    /** {@code values} as an I32 vector in {@code owner}'s memory. */
    public static Tensor upload(Backend backend, Workspace owner, int[] values) {
        Tensor t = owner.allocate(DType.I32, values.length);
        backend.copy(Tensor.ofInts(values, values.length), t);
        return t;
    }
}
