package io.kinema.cuda.ops;

import io.kinema.compute.PictureOps;
import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.GpuFunction.Grid;

/** Pictures of 8-bit levels. */
public final class CudaPictures implements PictureOps {
    private static final int BLOCK = 256;

    private final OpContext c;

    public CudaPictures(OpContext context) {
        this.c = context;
    }

    /** Arguments are checked by the caller. */
    @Override
    public void levels(Tensor x, float[] factor, float[] offset, Tensor out, Tensor notFinite) {
        if (x.size(1) > 0) {
            StridedMoves.fill(c, notFinite, 0);
        }
        long area = (long) x.size(2) * x.size(3);
        if (x.elements() == 0) {
            return;
        }
        int[] factors = new int[2 * MOST_CHANNELS];
        for (int i = 0; i < factor.length; i++) {
            factors[i] = Float.floatToRawIntBits(factor[i]);
            factors[MOST_CHANNELS + i] = Float.floatToRawIntBits(offset[i]);
        }
        c.launcher().arguments().tensor(x).i64(x.stride(0)).i64(x.stride(1)).tensor(out).tensor(notFinite).i64(area).i32(x.size(0)).struct(new long[0], factors);
        c.launcher().launch("kinema_levels", Grid.of(Math.ceilDiv(area, BLOCK), x.size(1), 1, BLOCK));
    }
}
