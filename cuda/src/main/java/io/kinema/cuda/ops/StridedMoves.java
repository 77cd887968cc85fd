package io.kinema.cuda.ops;

import io.kinema.compute.Tensor;
import io.kinema.cuda.kernel.Launches;
import io.kinema.cuda.kernel.RowView;
import io.kinema.cuda.kernel.StridedPair;
import io.kinema.cuda.kernel.TypeCode;
import java.util.Optional;

/** Copies and fills between views of one device. */
final class StridedMoves {
    private static final int CONVERT = 5;
    private static final int VECTOR_BYTES = 16;
    /** As a type code: so many bits, moved as they are. */
    private static final int VECTOR_BITS = 128;

    private StridedMoves() {
    }

    /** Element by element, any strides, converting between float types. */
    static void copy(OpContext c, Tensor src, Tensor dst) {
        if (src.elements() == 0) {
            return;
        }
        boolean same = src.dtype() == dst.dtype();
        if (same && src.contiguous() && dst.contiguous()) {
            c.stream().copy(src.data().address(), dst.data().address(), src.elements() * src.dtype().bytes());
        } else if (!same && narrowFloats(src, dst) && byRows(c, src, dst)) {
            return;
        } else {
            general(c, src, dst, same);
        }
    }

    private static boolean narrowFloats(Tensor src, Tensor dst) {
        return src.dtype().bytes() <= 4 && dst.dtype().bytes() <= 4;
    }

    private static boolean byRows(OpContext c, Tensor src, Tensor dst) {
        boolean flat = src.contiguous() && dst.contiguous();
        Optional<RowView> from = flat ? Optional.of(RowView.flat(src)) : RowView.of(src);
        Optional<RowView> to = flat ? Optional.of(RowView.flat(dst)) : RowView.of(dst);
        if (from.isEmpty() || to.isEmpty()) {
            return false;
        }
        c.launcher().arguments().i32(CONVERT).rows(from.get()).type(src.dtype()).rows(to.get()).type(dst.dtype())
                .i64(from.get().rows()).i64(from.get().width()).f32(0).f32(0);
        c.launcher().launch("kinema_unary", Launches.elements(from.get().rows(), from.get().width()));
        return true;
    }

    private static void general(OpContext c, Tensor src, Tensor dst, boolean raw) {
        StridedPair pair = StridedPair.of(src, dst);
        if (pair.axes() > StridedPair.MOST_AXES) {
            int axis = smallestAxis(src);
            for (long i = 0; i < src.shape().dim(axis); i++) {
                copy(c, src.select(axis, i), dst.select(axis, i));
            }
            return;
        }
        int each = VECTOR_BYTES / src.dtype().bytes();
        boolean aligned = raw && src.data().address() % VECTOR_BYTES == 0 && dst.data().address() % VECTOR_BYTES == 0;
        Optional<StridedPair> vectors = aligned ? pair.pieces(each) : Optional.empty();
        if (vectors.isPresent()) {
            launch(c, src, VECTOR_BITS, dst, VECTOR_BITS, vectors.get(), src.elements() / each);
        } else {
            launch(c, src, code(src, raw), dst, code(dst, raw), pair, src.elements());
        }
    }

    private static void launch(OpContext c, Tensor src, int srcCode, Tensor dst, int dstCode, StridedPair pair, long count) {
        c.launcher().arguments().tensor(src).i32(srcCode).tensor(dst).i32(dstCode).struct(pair.packed(), pair.axes(), 0).i64(count);
        c.launcher().launch("kinema_copy", Launches.loop(count));
    }

    private static int code(Tensor t, boolean raw) {
        return raw ? TypeCode.raw(t.dtype()) : TypeCode.of(t.dtype());
    }

    /** The smallest axis of more than one element. */
    private static int smallestAxis(Tensor t) {
        int best = -1;
        for (int i = 0; i < t.rank(); i++) {
            if (t.size(i) > 1 && (best < 0 || t.size(i) < t.size(best))) {
                best = i;
            }
        }
        return best;
    }

    static void fill(OpContext c, Tensor dst, float value) {
        if (dst.elements() == 0) {
            return;
        }
        if (dst.contiguous() && Float.floatToRawIntBits(value) == 0) {
            c.stream().fill(dst.data().address(), (byte) 0, dst.elements() * dst.dtype().bytes());
            return;
        }
        StridedPair pair = StridedPair.of(dst, dst);
        if (pair.axes() > StridedPair.MOST_AXES) {
            int axis = smallestAxis(dst);
            for (long i = 0; i < dst.shape().dim(axis); i++) {
                fill(c, dst.select(axis, i), value);
            }
            return;
        }
        c.launcher().arguments().tensor(dst).type(dst.dtype()).struct(pair.packed(), pair.axes(), 0).f32(value).i64(dst.elements());
        c.launcher().launch("kinema_fill", Launches.loop(dst.elements()));
    }
}
