package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** Partials of ranks, and all-reduces of orders and faults of their own. */
final class ReductionCases {
    static final Duration TIMEOUT = Duration.ofMinutes(10);
    static final long PLENTY = 1L << 30;
    /** Small, so that even small shapes have elements of every order. */
    static final int CHUNK = 7;

    /** Rows, columns and what rows are padded to: all ranks with as many, some with fewer, some with none. */
    private static final List<int[]> SHAPES = List.of(new int[] {4, 3, 1}, new int[] {4, 1, 1}, new int[] {8, 5, 1}, new int[] {12, 7, 1}, new int[] {64, 33, 64},
            new int[] {100, 21, 1}, new int[] {256, 129, 64}, new int[] {4, 4099, 1}, new int[] {5, 3, 1}, new int[] {85, 33, 64}, new int[] {236, 48, 64}, new int[] {1, 9, 64});

    private ReductionCases() {
    }

    enum Values {
        ORDINARY, WIDE, SUBNORMAL, SIGNED_ZERO, INFINITY, OVERFLOW;

        float next(Random random) {
            float x = (float) random.nextGaussian();
            return switch (this) {
                case ORDINARY -> x;
                case WIDE -> x * (float) Math.pow(2, random.nextInt(-60, 60));
                case SUBNORMAL -> Float.intBitsToFloat(random.nextInt(1 << 23) | random.nextInt(2) << 31);
                case SIGNED_ZERO -> random.nextBoolean() ? -0f : random.nextInt(4) == 0 ? x : 0f;
                case INFINITY -> random.nextInt(8) == 0 ? Float.POSITIVE_INFINITY : x;
                case OVERFLOW -> 1e38f * (1 + random.nextInt(3)) * (random.nextBoolean() ? 1 : -1);
            };
        }
    }

    /** Shares, columns and kinds of values: 12 x 6. */
    static Stream<Arguments> cases() {
        return SHAPES.stream().flatMap(shape -> Arrays.stream(Values.values()).map(values -> Arguments.of(RowShares.padded(shape[0], 4, shape[2]), shape[1], values)));
    }

    static RowShares even(int rows) {
        return RowShares.padded(rows, 4, 1);
    }

    static Tensor partial(int rank, long rows, long columns, Values values) {
        Random random = new Random(31 * rank + 7 * rows + columns);
        float[] x = new float[(int) (rows * columns)];
        for (int i = 0; i < x.length; i++) {
            x[i] = values.next(random);
        }
        return Tensor.ofFloats(x, rows, columns);
    }

    static int[] bits(Tensor rows) {
        float[] values = rows.toFloats();
        return IntStream.range(0, values.length).map(i -> Float.floatToRawIntBits(values[i])).toArray();
    }

    /** An all-reduce in which every element has a tree of its own, or is added in double. */
    static final class Ordered extends Wrapped {
        final IntUnaryOperator order;

        /** @param order gives a number for an element's tree, or a negative one for a sum in double */
        Ordered(Communicator real, IntUnaryOperator order) {
            super(real);
            this.order = order;
        }

        static SumTree tree(int number) {
            return SumTree.ALL.get((number * 7 + number / 11) % SumTree.ALL.size());
        }

        @Override
        public void allReduce(Tensor values) {
            List<float[]> all = exchange(values.toFloats());
            for (int i = 0; i < values.elements(); i++) {
                float[] x = {all.get(0)[i], all.get(1)[i], all.get(2)[i], all.get(3)[i]};
                int number = order.applyAsInt(i);
                float sum = number < 0 ? (float) ((double) x[0] + x[1] + x[2] + x[3]) : tree(number).sum(x);
                values.data().set(ValueLayout.JAVA_FLOAT_UNALIGNED, (long) i * Float.BYTES, sum);
            }
        }
    }

    /** Changes one value of one all-reduce. */
    static final class Corrupting extends Wrapped {
        final int corrupted;
        int calls;

        Corrupting(Communicator real, int corrupted) {
            super(real);
            this.corrupted = corrupted;
        }

        @Override
        public void allReduce(Tensor values) {
            super.allReduce(values);
            if (calls++ == corrupted && rank() == 3) {
                ValueLayout.OfFloat at = ValueLayout.JAVA_FLOAT_UNALIGNED;
                long last = (values.elements() - 1) * Float.BYTES;
                values.data().set(at, last, values.data().get(at, last) == 2 ? 1 : 2);
            }
        }
    }

    /** Leaves everything to another one. */
    private static class Wrapped implements Communicator {
        private final Communicator real;

        Wrapped(Communicator real) {
            this.real = real;
        }

        @Override
        public void allReduce(Tensor values) {
            real.allReduce(values);
        }

        @Override
        public int rank() {
            return real.rank();
        }

        @Override
        public int size() {
            return real.size();
        }

        @Override
        public void allGather(Tensor part, Tensor whole) {
            real.allGather(part, whole);
        }

        @Override
        public void barrier() {
            real.barrier();
        }

        @Override
        public boolean agree(boolean mine) {
            return real.agree(mine);
        }

        @Override
        public <T> List<T> exchange(T mine) {
            return real.exchange(mine);
        }

        @Override
        public long bufferBytes() {
            return real.bufferBytes();
        }
    }
}
