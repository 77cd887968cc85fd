package io.kinema.cuda.blas;

import io.kinema.weights.DType;

/** The cudaDataType_t numbers of the types that products take. */
final class CudaType {
    private CudaType() {
    }

    static int of(DType dtype) {
        return switch (dtype) {
            case F32 -> 0;
            case F64 -> 1;
            case F16 -> 2;
            case BF16 -> 14;
            default -> throw new IllegalArgumentException("matrix product: got " + dtype + ", expected F32, F16 or BF16");
        };
    }
}
