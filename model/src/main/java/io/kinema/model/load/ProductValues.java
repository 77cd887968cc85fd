package io.kinema.model.load;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.WeightLoader;
import io.kinema.compute.Workspace;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.DType;
import io.kinema.weights.EncodedMatrix;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.FloatMatrix;
import io.kinema.weights.Int8Matrix;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.StoredTensor;
import java.util.Optional;

/**
 * Brings values of stored tensors to a backend in the form that products read: their dtype, and the order in which they lie. Owns nothing: copies belong to
 * the workspace given here.
 *
 * @param backend  where the tensors go
 * @param owner    memory for copies (converted or uploaded tensors)
 * @param rounding how matrices are stored for products
 * @param layout   in which order the values of matrices rounded to FP16 lie; others stay as stored
 * @param loader   brings them there: the backend itself, or one beside it
 * @param known    their values were looked at before, and every one fits the rounding
 */
record ProductValues(Backend backend, Workspace owner, Rounding rounding, MatrixLayout layout, WeightLoader loader, boolean known) {
    /** The dtype in which products read a matrix. */
    DType wanted(DType stored) {
        return switch (rounding) {
            case AS_STORED -> StoredTypes.productDtype(stored);
            case F16 -> DType.F16;
            case BF16 -> DType.BF16;
        };
    }

    /** A matrix as products read it. */
    Weight weight(StoredMatrix matrix) {
        Optional<Rotation> rotation = Rotation.of(matrix.rotation());
        return switch (matrix) {
            case FloatMatrix floats -> new DenseWeight(laidOut(floats.tensor()));
            case Int8Matrix int8 -> {
                if (!known) {
                    WeightRange.require(int8, rounding);
                }
                yield new Int8Weight(loader.load(int8.values(), owner), loader.load(int8.scales(), owner).reshape(int8.rows()), rotation);
            }
            case EncodedMatrix encoded -> {
                if (!known) {
                    WeightRange.require(encoded, rounding);
                }
                yield new EncodedWeight(encoded, rotation);
            }
        };
    }

    /** A rank's inputs of a matrix. @throws io.kinema.weights.BadWeightsException when rotated groups of them would be cut */
    Weight inputs(StoredMatrix matrix, Share share) {
        share.requireWholeGroups(matrix);
        Optional<Rotation> rotation = Rotation.of(matrix.rotation());
        int from = Math.toIntExact(share.from(matrix.columns()));
        int to = Math.toIntExact(share.to(matrix.columns()));
        return switch (matrix) {
            case FloatMatrix floats -> {
                StoredTensor stored = floats.tensor();
                if (rounding == Rounding.F16 && !known) {
                    WeightRange.require(stored);
                }
                yield new DenseWeight(columns(stored, wanted(stored.dtype()), from, to), rotation);
            }
            case Int8Matrix int8 -> {
                if (!known) {
                    WeightRange.require(int8, rounding);
                }
                yield new Int8Weight(columns(int8.values(), DType.I8, from, to), loader.load(int8.scales(), owner).reshape(int8.rows()), rotation);
            }
            case EncodedMatrix encoded -> {
                if (!known) {
                    WeightRange.require(encoded, rounding);
                }
                yield new EncodedWeight(encoded, rotation).columns(from, to);
            }
        };
    }

    /** Columns [from, to) in this layout; all of them are where the backend computes only while they are copied. */
    private Tensor columns(StoredTensor stored, DType wanted, int from, int to) {
        boolean byColumn = wanted == DType.F16 && rounding == Rounding.F16 && layout == MatrixLayout.COLUMN;
        if (!byColumn && wanted == StoredTypes.loadedDtype(stored) && backend.device().equals(Device.CPU)) {
            return loaded(stored).slice(1, from, to);
        }
        long rows = stored.shape().dim(0);
        Tensor part = byColumn ? owner.allocate(wanted, (long) to - from, rows).permute(1, 0) : owner.allocate(wanted, rows, (long) to - from);
        try (Workspace.Frame _ = owner.frame()) {
            loader.copy(loaded(stored).slice(1, from, to), part);
        }
        return part;
    }

    /** A matrix in this rounding and, where that is FP16, layout. */
    private Tensor laidOut(StoredTensor stored) {
        if (rounding != Rounding.F16 || layout == MatrixLayout.ROW) {
            return rounded(stored);
        }
        if (!known) {
            WeightRange.require(stored);
        }
        Tensor columns = owner.allocate(DType.F16, stored.shape().dim(1), stored.shape().dim(0)).permute(1, 0);
        loader.copy(loaded(stored), columns);
        return columns;
    }

    /** In this rounding, as a view where it lies so already. */
    Tensor rounded(StoredTensor stored) {
        DType wanted = wanted(stored.dtype());
        return wanted == StoredTypes.loadedDtype(stored) ? loaded(stored) : rounded(stored, wanted);
    }

    /** In another dtype. */
    Tensor rounded(StoredTensor stored, DType wanted) {
        if (wanted == DType.F16 && !known) {
            WeightRange.require(stored);
        }
        return converted(stored, wanted);
    }

    /** A copy in another dtype, or an aligned one; on a device the values as stored are there only while they are converted. */
    private Tensor converted(StoredTensor stored, DType wanted) {
        Tensor copy = owner.allocate(wanted, stored.shape().toArray());
        try (Workspace.Frame _ = owner.frame()) {
            loader.copy(loaded(stored), copy);
        }
        return copy;
    }

    /** As stored where a backend can convert it; F8 is widened here. */
    Tensor loaded(StoredTensor stored) {
        return switch (stored.dtype()) {
            case F8_E4M3, F8_E5M2 -> upload(FloatConversion.toFloats(stored), stored.shape().toArray());
            default -> loader.load(stored, owner);
        };
    }

    /** FP32 values as a tensor in the owner's memory. */
    Tensor upload(float[] values, long... dims) {
        Tensor tensor = owner.f32(dims);
        loader.copy(Tensor.ofFloats(values, dims), tensor);
        return tensor;
    }
}
