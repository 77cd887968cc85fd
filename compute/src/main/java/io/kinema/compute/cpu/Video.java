package io.kinema.compute.cpu;

import io.kinema.compute.ConvolutionOps.Conv3d;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Patches of a padded video [I, T, H, W]; positions are the output's (t, y, x) in row-major order. */
final class Video implements PatchProduct.Patches {
    private final Tensor x;
    private final Conv3d conv;
    private final int outHeight;
    private final int outWidth;
    private final long positions;

    Video(Tensor x, Conv3d conv, Tensor out) {
        this.x = x;
        this.conv = conv;
        this.outHeight = out.size(2);
        this.outWidth = out.size(3);
        this.positions = (long) out.size(1) * outHeight * outWidth;
    }

    @Override
    public int inputs() {
        return conv.w().size(1) * conv.w().size(2) * conv.w().size(3) * conv.w().size(4);
    }

    @Override
    public long positions() {
        return positions;
    }

    @Override
    public void write(long first, int count, MemorySegment to, Scratch scratch) {
        int kt = conv.w().size(2);
        int kh = conv.w().size(3);
        int kw = conv.w().size(4);
        float[] line = scratch.floats(0, x.size(3) + conv.left() + conv.right());
        float[] row = scratch.floats(1, outWidth);
        for (int done = 0; done < count; ) {
            long position = first + done;
            int column = (int) (position % outWidth);
            int n = Math.min(count - done, outWidth - column);
            int y = (int) (position / outWidth % outHeight);
            int t = (int) (position / outWidth / outHeight);
            for (int i = 0; i < x.size(0); i++) {
                for (int tap = 0; tap < kt * kh; tap++) {
                    readLine(i, t * conv.strideT() + tap / kh - conv.frontFrames(), y * conv.strideH() + tap % kh - conv.top(), line);
                    for (int c = 0; c < kw; c++) {
                        long at = ((((long) i * kt * kh + tap) * kw + c) * count + done) * Float.BYTES;
                        writeTap(line, column * conv.strideW() + c, n, row, to, at);
                    }
                }
            }
            done += n;
        }
    }

    private void writeTap(float[] line, int from, int n, float[] row, MemorySegment to, long at) {
        if (conv.strideW() == 1) {
            MemorySegment.copy(line, from, to, Rows.F32, at, n);
            return;
        }
        for (int p = 0; p < n; p++) {
            row[p] = line[from + p * conv.strideW()];
        }
        MemorySegment.copy(row, 0, to, Rows.F32, at, n);
    }

    /** One padded line of pixels; zeros in front of the first frame and, without reflection, outside the picture. */
    private void readLine(int channel, int t, int y, float[] line) {
        int height = x.size(2);
        int width = x.size(3);
        boolean reflect = conv.mode() == SpatialPadding.REFLECT;
        boolean outside = y < 0 || y >= height;
        if (t < 0 || outside && !reflect) {
            Arrays.fill(line, 0, width + conv.left() + conv.right(), 0);
            return;
        }
        int source = y < 0 ? -y : y >= height ? 2 * (height - 1) - y : y;
        long at = (((long) channel * x.size(1) + t) * height + source) * width;
        MemorySegment.copy(x.data(), Rows.F32, at * Float.BYTES, line, conv.left(), width);
        int end = conv.left() + width;
        for (int i = 0; i < conv.left(); i++) {
            line[i] = reflect ? line[2 * conv.left() - i] : 0;
        }
        for (int i = 0; i < conv.right(); i++) {
            line[end + i] = reflect ? line[end - 2 - i] : 0;
        }
    }
}
