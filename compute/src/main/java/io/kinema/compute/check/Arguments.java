package io.kinema.compute.check;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;

/** Argument checks of one operation on one device: every failure names the operation, the argument, got and expected. */
final class Arguments {
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED;

    private final String op;
    private final Device device;

    Arguments(String op, Device device) {
        this.op = op;
        this.device = device;
    }

    /** Fails unless {@code ok}. For expectations that are constants: text is put together after a failure only, see {@link #fail}. */
    void require(boolean ok, String argument, Object got, String expected) {
        if (!ok) {
            fail(argument, got, expected);
        }
    }

    void fail(String argument, Object got, String expected) {
        throw new IllegalArgumentException(op + ": " + argument + " got " + got + ", expected " + expected);
    }

    /** A tensor of {@code rank} axes here, of a float type that kernels read, last axis contiguous. */
    Tensor floats(String argument, Tensor t, int rank) {
        rank(argument, t, rank);
        return floats(argument, t);
    }

    private void rank(String argument, Tensor t, int rank) {
        if (t.rank() != rank) {
            fail(argument, t, rank + " axes");
        }
    }

    Tensor floats(String argument, Tensor t) {
        require(isFloat(t.dtype()), argument, t, "F32, F16 or BF16");
        return placed(argument, t);
    }

    /** An FP32 tensor here with a contiguous last axis. */
    Tensor f32(String argument, Tensor t, int rank) {
        rank(argument, t, rank);
        require(t.dtype() == DType.F32, argument, t, "F32");
        return placed(argument, t);
    }

    void f32(String argument, Tensor t, long... dims) {
        require(t.dtype() == DType.F32, argument, t, "F32");
        shape(argument, t, dims);
        placed(argument, t);
    }

    /** An optional vector of any float type. */
    void vector(String argument, Optional<Tensor> t, long size) {
        t.ifPresent(v -> {
            floats(argument, v);
            shape(argument, v, size);
        });
    }

    /** A tensor whose last axis is contiguous and whose memory is on this backend's device. */
    Tensor placed(String argument, Tensor t) {
        if (!t.device().equals(device)) {
            fail(argument, t, "a tensor on " + device);
        }
        contiguousRows(argument, t);
        return t;
    }

    void contiguousRows(String argument, Tensor t) {
        require(t.rank() == 0 || t.size(-1) <= 1 || t.stride(-1) == 1, argument, t, "a contiguous last axis");
    }

    /** A tensor without gaps. */
    void contiguous(String argument, Tensor t) {
        require(t.contiguous(), argument, t, "a contiguous tensor");
    }

    void shape(String argument, Tensor t, long... dims) {
        boolean same = t.rank() == dims.length;
        for (int i = 0; same && i < dims.length; i++) {
            same = t.shape().dim(i) == dims[i];
        }
        if (!same) {
            fail(argument, t, "shape " + Arrays.toString(dims));
        }
    }

    void sameShape(String argument, Tensor t, Tensor like) {
        shape(argument, t, like.shape().toArray());
    }

    /** A contiguous I32 vector of {@code size} values; on the host the values must lie in [0, bound). */
    void index(String argument, Tensor t, long size, long bound) {
        require(t.dtype() == DType.I32, argument, t, "I32");
        shape(argument, t, size);
        placed(argument, t);
        if (t.device().kind() == Device.Kind.CPU) {
            MemorySegment data = t.data();
            for (long i = 0; i < size; i++) {
                int value = data.get(I32, i * Integer.BYTES);
                if (value < 0 || value >= bound) {
                    fail(argument + "[" + i + "]", value, "a row in [0, " + bound + ")");
                }
            }
        }
    }

    /** {@code in} and {@code out} share no memory. */
    void disjoint(String argument, Tensor in, Tensor out) {
        if (Overlap.possible(in, out)) {
            fail(argument, in, "memory apart from out " + out);
        }
    }

    /** {@code in} is the same view as {@code out}, or shares no memory with it. */
    void sameOrDisjoint(String argument, Tensor in, Tensor out) {
        if (!Overlap.sameView(in, out) && Overlap.possible(in, out)) {
            fail(argument, in, "out itself or memory apart from out " + out);
        }
    }

    static boolean isFloat(DType dtype) {
        return dtype == DType.F32 || dtype == DType.F16 || dtype == DType.BF16;
    }
}
