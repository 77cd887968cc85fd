package io.kinema.media.image;

import org.bytedeco.ffmpeg.avutil.AVFrame;

/**
 * Lossy WebP's YUV 4:2:0 to RGB with libwebp's rules: "fancy" chroma upsampling (9:3:3:1) and BT.601 limited range in 14-bit
 * fixed point, so that the bytes equal what libwebp gives.
 */
final class WebpColour {

    private final int width;
    private final int height;
    private final byte[] luma;
    private final byte[] u;
    private final byte[] v;

    private WebpColour(AVFrame frame) {
        this.width = frame.width();
        this.height = frame.height();
        this.luma = plane(frame, 0, width, height);
        this.u = plane(frame, 1, chroma(width), chroma(height));
        this.v = plane(frame, 2, chroma(width), chroma(height));
    }

    static RgbImage toRgb(AVFrame frame, boolean withAlpha) {
        RgbImage out = new WebpColour(frame).convert();
        if (withAlpha) {
            byte[] alpha = plane(frame, 3, frame.width(), frame.height());
            for (int i = 0; i < out.rgb().length; i++) {
                out.rgb()[i] = PixelLayout.onWhite(out.rgb()[i], alpha[i / RgbImage.CHANNELS] & 0xff);
            }
        }
        return out;
    }

    private RgbImage convert() {
        RgbImage out = RgbImage.black(width, height);
        int at = 0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int luminance = 19077 * (luma[y * width + x] & 0xff) >> 8;
                int blueness = upsampled(u, x, y);
                int redness = upsampled(v, x, y);
                out.rgb()[at++] = clip(luminance + (26149 * redness >> 8) - 14234);
                out.rgb()[at++] = clip(luminance - (6419 * blueness >> 8) - (13320 * redness >> 8) + 8708);
                out.rgb()[at++] = clip(luminance + (33050 * blueness >> 8) - 17685);
            }
        }
        return out;
    }

    /** The chroma at a luma position: the nearest sample weighs 9/16, its two neighbours 3/16, the one across 1/16. */
    private int upsampled(byte[] plane, int x, int y) {
        int columns = chroma(width);
        int nearX = x >> 1;
        int nearY = y >> 1;
        int farX = Math.clamp((x & 1) == 0 ? nearX - 1 : nearX + 1, 0, columns - 1);
        int farY = Math.clamp((y & 1) == 0 ? nearY - 1 : nearY + 1, 0, chroma(height) - 1);
        int near = plane[nearY * columns + nearX] & 0xff;
        int across = plane[farY * columns + farX] & 0xff;
        int beside = plane[nearY * columns + farX] & 0xff;
        int above = plane[farY * columns + nearX] & 0xff;
        if (farX == nearX) {
            return 3 * near + above + 2 >> 2;
        }
        // Averaged in two steps, each rounded as in libwebp.
        int diagonal = near + across + beside + above + 8 + 2 * (beside + above) >> 3;
        return diagonal + near >> 1;
    }

    private static byte clip(int value) {
        return (byte) Math.clamp(value >> 6, 0, 255);
    }

    private static int chroma(int side) {
        return (side + 1) / 2;
    }

    private static byte[] plane(AVFrame frame, int index, int width, int height) {
        byte[] plane = new byte[width * height];
        for (int y = 0; y < height; y++) {
            frame.data(index).position((long) y * frame.linesize(index)).get(plane, y * width, width);
        }
        return plane;
    }
}
