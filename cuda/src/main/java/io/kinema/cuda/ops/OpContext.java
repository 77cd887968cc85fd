package io.kinema.cuda.ops;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.kernel.RowView;
import java.util.function.Consumer;

/**
 * What every operation works with. Owns nothing.
 *
 * @param scratch memory that operations take in frames and give back before they return
 */
public record OpContext(Device device, GpuFacts gpu, GpuStream stream, Launcher launcher, Workspace scratch) {

    /** {@code t} where its rows can be addressed by kernels, else a contiguous copy in the current scratch frame. */
    Tensor readable(Tensor t) {
        return RowView.of(t).isPresent() ? t : contiguous(t);
    }

    /** A contiguous copy in the current scratch frame. */
    Tensor contiguous(Tensor t) {
        Tensor copy = scratch.allocate(t.dtype(), t.shape().toArray());
        StridedMoves.copy(this, t, copy);
        return copy;
    }

    /** Lets {@code write} fill {@code out}, or a contiguous stand-in that is then copied where kernels cannot address out's rows. */
    void writing(Tensor out, Consumer<Tensor> write) {
        if (RowView.of(out).isPresent()) {
            write.accept(out);
            return;
        }
        Tensor copy = scratch.allocate(out.dtype(), out.shape().toArray());
        write.accept(copy);
        StridedMoves.copy(this, copy, out);
    }

    /** The rows of a view that {@link #readable} or {@link #writing} gave. */
    static RowView rows(Tensor t) {
        return RowView.of(t).orElseThrow(() -> new IllegalStateException(t + ": rows cannot be addressed"));
    }
}
