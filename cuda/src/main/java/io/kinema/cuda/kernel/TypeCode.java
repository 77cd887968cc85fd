package io.kinema.cuda.kernel;

import io.kinema.weights.DType;

/** Type codes of kernels: 0 F32, 1 F16, 2 BF16, 3 F64; raw moves use the number of bits. */
public final class TypeCode {
    private TypeCode() {
    }

    /** @throws IllegalArgumentException for types that kernels do not compute with */
    public static int of(DType dtype) {
        return switch (dtype) {
            case F32 -> 0;
            case F16 -> 1;
            case BF16 -> 2;
            case F64 -> 3;
            default -> throw new IllegalArgumentException("kernel operand: got " + dtype + ", expected F64, F32, F16 or BF16");
        };
    }

    /** The code of a move that does not look at values. */
    public static int raw(DType dtype) {
        return 8 * dtype.bytes();
    }
}
