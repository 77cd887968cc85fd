package io.kinema.compute.reference;

import io.kinema.compute.ConvolutionOps.Conv3d;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.compute.Tensor;

/** A copy of [C, T, H, W] with the padding of a convolution written out. */
record PaddedVideo(float[] values, int frames, int height, int width) {

    static PaddedVideo of(Tensor x, Conv3d conv) {
        int t = x.size(1);
        int h = x.size(2);
        int w = x.size(3);
        PaddedVideo p = new PaddedVideo(new float[Math.toIntExact((long) x.size(0) * (t + conv.frontFrames())
                * (h + conv.top() + conv.bottom()) * (w + conv.left() + conv.right()))],
                t + conv.frontFrames(), h + conv.top() + conv.bottom(), w + conv.left() + conv.right());
        float[] source = HostArrays.floats(x);
        boolean reflect = conv.mode() == SpatialPadding.REFLECT;
        for (int ct = 0; ct < x.size(0) * t; ct++) {
            int frame = ct / t * p.frames + ct % t + conv.frontFrames();
            for (int y = 0; y < p.height; y++) {
                for (int c = 0; c < p.width; c++) {
                    int sy = source(y - conv.top(), h, reflect);
                    int sx = source(c - conv.left(), w, reflect);
                    if (sy >= 0 && sx >= 0) {
                        p.values[(frame * p.height + y) * p.width + c] = source[(ct * h + sy) * w + sx];
                    }
                }
            }
        }
        return p;
    }

    /** The pixel that lies at {@code i} of an axis, -1 for a zero. */
    private static int source(int i, int size, boolean reflect) {
        if (i >= 0 && i < size) {
            return i;
        }
        if (!reflect) {
            return -1;
        }
        return i < 0 ? -i : 2 * (size - 1) - i;
    }

    /** Adds channel {@code i} seen through its kernel at output frame {@code t} to every pixel of {@code sum}. */
    void correlate(int i, int t, Conv3d conv, float[] w, int atW, int outWidth, double[] sum) {
        int kt = conv.w().size(2);
        int kh = conv.w().size(3);
        int kw = conv.w().size(4);
        for (int tap = 0; tap < kt * kh * kw; tap++) {
            int frame = i * frames + t * conv.strideT() + tap / (kh * kw);
            int top = frame * height + tap / kw % kh;
            double weight = w[atW + tap];
            for (int p = 0; p < sum.length; p++) {
                int y = p / outWidth * conv.strideH();
                int x = p % outWidth * conv.strideW() + tap % kw;
                sum[p] += weight * values[(top + y) * width + x];
            }
        }
    }
}
