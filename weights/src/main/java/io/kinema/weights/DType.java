package io.kinema.weights;

import java.util.Arrays;
import java.util.Optional;

/** Element types of stored and computed tensors, named as the safetensors format names them. */
public enum DType {
    F64(8), F32(4), F16(2), BF16(2), F8_E4M3(1), F8_E5M2(1), I64(8), I32(4), I16(2), I8(1), U64(8), U32(4), U16(2), U8(1), BOOL(1);

    private final int bytes;

    DType(int bytes) {
        this.bytes = bytes;
    }

    /** Size of one element in bytes. */
    public int bytes() {
        return bytes;
    }

    /** True for the types whose values are real numbers (F64, F32, F16, BF16, F8_*). */
    public boolean floating() {
        return ordinal() <= F8_E5M2.ordinal();
    }

    /** The type that a safetensors header calls {@code name}, empty when the format is not known here. */
    public static Optional<DType> named(String name) {
        return Arrays.stream(values()).filter(d -> d.name().equals(name)).findFirst();
    }
}
