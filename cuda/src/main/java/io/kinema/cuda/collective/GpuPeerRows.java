package io.kinema.cuda.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.PeerRows;
import io.kinema.compute.collective.RowShares;
import io.kinema.compute.collective.SumTree;
import io.kinema.cuda.kernel.Arguments;
import io.kinema.cuda.kernel.Launches;
import io.kinema.cuda.ops.CudaMoves;
import io.kinema.cuda.ops.OpContext;
import io.kinema.weights.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Owns a rank's rows on its GPU until it is closed, by any thread; closing twice is harmless. The kernels add without contraction. */
final class GpuPeerRows implements PeerRows {
    private static final int TABLE = 16;

    private final OpContext c;
    private final Workspace memory;
    private final Workspace calibration;
    private final long first;
    private final Tensor partial;
    private final Tensor sum;
    private final Tensor codes;
    private final Tensor possible;
    private final Tensor probing;

    GpuPeerRows(RankGpu gpu, int rank, RowShares shares, int columns) {
        this.c = gpu.operations();
        this.memory = gpu.memory().apply("peer rows");
        this.calibration = gpu.memory().apply("peer row calibration");
        try {
            this.partial = memory.f32(shares.rows(), columns);
            this.sum = memory.f32(shares.count(rank), columns);
            this.codes = memory.allocate(DType.U8, sum.elements());
            this.possible = calibration.allocate(DType.U16, sum.elements());
            this.probing = calibration.f32(shares.rows(), columns);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        this.first = (long) shares.from(rank) * columns;
        if (sum.elements() > 0) {
            // All bits of all masks: the first probe takes away those that are no tree's.
            c.stream().fill(possible.data().address(), (byte) -1, possible.elements() * Short.BYTES);
        }
    }

    @Override
    public Tensor partial() {
        return partial;
    }

    @Override
    public void load(Tensor values) {
        c.stream().copy(values.data().address(), partial.data().address(), partial.elements() * Float.BYTES);
    }

    @Override
    public Tensor probe(float value) {
        new CudaMoves(c).fill(probing, value);
        return probing;
    }

    @Override
    public void narrow(float[] expected, Tensor result) {
        if (sum.elements() == 0) {
            return;
        }
        int[] bits = new int[TABLE];
        for (int code = 0; code < expected.length; code++) {
            bits[code] = Float.floatToRawIntBits(expected[code]);
        }
        c.launcher().arguments().address(own(result)).struct(new long[0], bits).tensor(possible).i64(sum.elements());
        c.launcher().launch("kinema_peer_narrow", Launches.loop(sum.elements()));
    }

    @Override
    public long code() {
        if (sum.elements() == 0) {
            calibration.close();
            return 0;
        }
        Tensor unclear = calibration.allocate(DType.I64, 1);
        c.stream().fill(unclear.data().address(), (byte) 0, Long.BYTES);
        c.launcher().arguments().tensor(possible).tensor(codes).i64(sum.elements()).tensor(unclear);
        c.launcher().launch("kinema_peer_code", Launches.loop(sum.elements()));
        try (Arena call = Arena.ofConfined()) {
            MemorySegment count = call.allocate(ValueLayout.JAVA_LONG);
            c.stream().download(unclear.data().address(), count, Long.BYTES);
            c.stream().synchronize();
            return count.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            calibration.close();
        }
    }

    @Override
    public Tensor add(List<Tensor> partials) {
        if (sum.elements() == 0) {
            return sum;
        }
        int[] trees = new int[TABLE];
        SumTree.ALL.forEach(tree -> trees[tree.ordinal()] = tree.packed());
        Arguments arguments = c.launcher().arguments();
        partials.forEach(p -> arguments.address(own(p)));
        arguments.tensor(codes).struct(new long[0], trees).tensor(sum).i64(sum.elements());
        c.launcher().launch("kinema_peer_sum", Launches.loop(sum.elements() / 4 + 1));
        return sum;
    }

    /** Where this rank's rows of a partial begin. */
    private long own(Tensor whole) {
        return whole.data().address() + first * Float.BYTES;
    }

    @Override
    public void close() {
        calibration.close();
        memory.close();
    }
}
