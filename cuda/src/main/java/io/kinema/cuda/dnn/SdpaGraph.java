package io.kinema.cuda.dnn;

import io.kinema.cuda.dnn.Descriptor.Kind;
import io.kinema.cuda.dnn.SdpaShape.Strides;
import java.util.ArrayList;
import java.util.List;

/**
 * Owns the descriptors of one attention as cuDNN's graph API wants it, until it is closed. Two forms: the single operation
 * of newer versions, and the chain product, scale, softmax (maximum, difference, exponential, sum, quotient), product.
 * Scores and softmax are FP32; the probabilities of the chain have the operands' type before the second product.
 */
final class SdpaGraph implements AutoCloseable {
    static final long Q = 1;
    static final long K = 2;
    static final long V = 3;
    static final long OUT = 4;
    static final long SCALE = 5;

    private static final int FLOAT = 0;
    private static final int HALF = 2;
    private static final int BFLOAT16 = 9;
    private static final int POINTWISE_MODE = 14;
    private static final int REDUCTION_TYPE = 18;
    private static final int BYTE_ALIGNMENT = 16;

    private final Cudnn cudnn;
    private final SdpaShape shape;
    private final List<Descriptor> owned = new ArrayList<>();
    private final List<Descriptor> operations = new ArrayList<>();
    private long nextId = 100;

    private SdpaGraph(Cudnn cudnn, SdpaShape shape) {
        this.cudnn = cudnn;
        this.shape = shape;
    }

    /** Attention as one operation, cuDNN 9.13.1 and later. */
    static SdpaGraph oneOperation(Cudnn cudnn, SdpaShape s) {
        SdpaGraph graph = new SdpaGraph(cudnn, s);
        try {
            Descriptor attention = graph.create(Kind.OPERATION_ATTENTION)
                    .descriptors(2800, graph.operand(Q, s.queries(), s.heads(), s.q()))
                    .descriptors(2801, graph.operand(K, s.keys(), s.kvHeads(), s.k()))
                    .descriptors(2802, graph.operand(V, s.keys(), s.kvHeads(), s.v()))
                    .descriptors(2803, graph.operand(OUT, s.queries(), s.heads(), s.out()))
                    .descriptors(2805, graph.scale());
            graph.operations.add(attention.finish());
            return graph;
        } catch (RuntimeException e) {
            graph.close();
            throw e;
        }
    }

    /** Attention as a chain of operations that cuDNN recognises. */
    static SdpaGraph chain(Cudnn cudnn, SdpaShape s) {
        SdpaGraph graph = new SdpaGraph(cudnn, s);
        try {
            Descriptor q = graph.operand(Q, s.queries(), s.heads(), s.q());
            Descriptor transposedK = graph.tensor(K, graph.type(), new long[] {1, s.kvHeads(), s.headDim(), s.keys()},
                    new long[] {s.k().head() * s.kvHeads(), s.k().head(), 1, s.k().row()}, false, false);
            Descriptor scores = graph.matmul(q, transposedK, graph.scores(FLOAT));
            Descriptor scaled = graph.pointwise(1, scores, graph.scale(), graph.scores(FLOAT));
            Descriptor largest = graph.reduce(3, scaled);
            Descriptor lowered = graph.pointwise(9, scaled, largest, graph.scores(FLOAT));
            Descriptor exponentials = graph.pointwise(13, lowered, graph.scores(FLOAT));
            Descriptor sum = graph.reduce(0, exponentials);
            Descriptor logarithm = graph.pointwise(15, sum, graph.perRow());
            graph.pointwise(0, largest, logarithm, graph.perRow());
            Descriptor probabilities = graph.pointwise(6, exponentials, sum, graph.scores(graph.type()));
            graph.matmul(probabilities, graph.operand(V, s.keys(), s.kvHeads(), s.v()), graph.operand(OUT, s.queries(), s.heads(), s.out()));
            return graph;
        } catch (RuntimeException e) {
            graph.close();
            throw e;
        }
    }

    private Descriptor create(Kind kind) {
        Descriptor descriptor = new Descriptor(cudnn, kind);
        owned.add(descriptor);
        return descriptor;
    }

    private int type() {
        return shape.bf16() ? BFLOAT16 : HALF;
    }

    private Descriptor operand(long id, int rows, int heads, Strides s) {
        return tensor(id, type(), new long[] {1, heads, rows, shape.headDim()}, new long[] {s.row() * rows, s.head(), s.row(), 1}, false, false);
    }

    private Descriptor scale() {
        return tensor(SCALE, FLOAT, new long[] {1, 1, 1, 1}, new long[] {1, 1, 1, 1}, false, true);
    }

    private Descriptor scores(int type) {
        long m = shape.queries();
        long n = shape.keys();
        return tensor(nextId++, type, new long[] {1, shape.heads(), m, n}, new long[] {shape.heads() * m * n, m * n, n, 1}, true, false);
    }

    private Descriptor perRow() {
        long m = shape.queries();
        return tensor(nextId++, FLOAT, new long[] {1, shape.heads(), m, 1}, new long[] {shape.heads() * m, m, 1, 1}, true, false);
    }

    private Descriptor tensor(long id, int type, long[] dims, long[] strides, boolean virtual, boolean byValue) {
        return create(Kind.TENSOR).longs(906, id).dataType(901, type).longs(902, dims).longs(903, strides).longs(900, BYTE_ALIGNMENT)
                .flag(907, virtual).flag(908, byValue).finish();
    }

    private Descriptor matmul(Descriptor a, Descriptor b, Descriptor c) {
        Descriptor how = create(Kind.MATMUL).dataType(1500, FLOAT).finish();
        operations.add(create(Kind.OPERATION_MATMUL).descriptors(1520, a).descriptors(1521, b).descriptors(1522, c).descriptors(1523, how).finish());
        return c;
    }

    private Descriptor pointwise(int mode, Descriptor x, Descriptor y) {
        operations.add(create(Kind.OPERATION_POINTWISE).descriptors(750, how(mode)).descriptors(751, x).descriptors(753, y).finish());
        return y;
    }

    private Descriptor pointwise(int mode, Descriptor x, Descriptor b, Descriptor y) {
        operations.add(create(Kind.OPERATION_POINTWISE).descriptors(750, how(mode)).descriptors(751, x).descriptors(752, b).descriptors(753, y).finish());
        return y;
    }

    private Descriptor how(int mode) {
        return create(Kind.POINTWISE).number(0, POINTWISE_MODE, mode).dataType(1, FLOAT).finish();
    }

    private Descriptor reduce(int operator, Descriptor x) {
        Descriptor y = perRow();
        Descriptor how = create(Kind.REDUCTION).number(1600, REDUCTION_TYPE, operator).dataType(1601, FLOAT).finish();
        operations.add(create(Kind.OPERATION_REDUCTION).descriptors(1610, x).descriptors(1611, y).descriptors(1612, how).finish());
        return y;
    }

    /** The finished graph, which stays this object's. */
    Descriptor graph() {
        return create(Kind.GRAPH).library(800).descriptors(801, operations.toArray(Descriptor[]::new)).finish();
    }

    @Override
    public void close() {
        owned.reversed().forEach(Descriptor::close);
        owned.clear();
    }
}
