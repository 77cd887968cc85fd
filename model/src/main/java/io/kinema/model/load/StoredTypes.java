package io.kinema.model.load;

import io.kinema.weights.DType;
import io.kinema.weights.StoredTensor;

/** What becomes of a stored tensor's dtype when it is read. */
final class StoredTypes {
    private StoredTypes() {
    }

    /** Matrices of other dtypes are coded: products decode them. */
    static boolean plain(DType dtype) {
        return switch (dtype) {
            case F64, F32, F16, BF16 -> true;
            default -> false;
        };
    }

    /** The dtype itself where products can read it; F64 and F8 are widened or rounded to FP32. */
    static DType productDtype(DType stored) {
        return switch (stored) {
            case F32, F16, BF16 -> stored;
            default -> DType.F32;
        };
    }

    /** The dtype that a tensor has when it is loaded as it is: a backend converts all but F8, which is widened on the way. */
    static DType loadedDtype(StoredTensor stored) {
        return switch (stored.dtype()) {
            case F8_E4M3, F8_E5M2 -> DType.F32;
            default -> stored.dtype();
        };
    }
}
