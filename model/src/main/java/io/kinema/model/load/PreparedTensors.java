package io.kinema.model.load;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.util.Optional;
import java.util.function.Function;

/**
 * A checkpoint that also has tensors in the form that products read, or keeps what is made of them. A reader asks it before it converts
 * a tensor, or puts its values in another order.
 */
public interface PreparedTensors extends TensorSource {
    /**
     * What a reader wants of a plain tensor.
     *
     * @param name   in the checkpoint
     * @param axis   along which it is a part of the tensor: all rows of some columns, or all columns of some rows
     * @param from   first row or column
     * @param to     the one after the last
     * @param dtype  of the values
     * @param layout of a matrix's values; row by row for tensors of other ranks
     */
    record Form(String name, Share.Axis axis, long from, long to, DType dtype, MatrixLayout layout) {
        /** The form as a name, different for different forms. */
        public String key() {
            String range = axis == Share.Axis.OUTPUTS ? "[" + from + ":" + to + "]" : "[:," + from + ":" + to + "]";
            return name + range + ":" + dtype + ":" + layout.label();
        }
    }

    /**
     * The tensor in the wanted form, contiguous: [columns, rows] for a matrix that is laid out by column.
     *
     * @param make makes it otherwise, on the backend of the reader, with copies in memory that its argument owns
     * @return empty when the reader is to make it for itself
     */
    Optional<StoredTensor> prepared(Form form, Function<Workspace, Tensor> make);
}
