package io.kinema.media.image;

import java.util.Arrays;
import java.util.Optional;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;

/** The pixel formats FFmpeg's PNG and WebP decoders give, each with its way to 8-bit RGB on white. */
enum PixelLayout {

    RGB24(avutil.AV_PIX_FMT_RGB24, 3, 0, 1, 2, -1),
    RGBA(avutil.AV_PIX_FMT_RGBA, 4, 0, 1, 2, 3),
    ARGB(avutil.AV_PIX_FMT_ARGB, 4, 1, 2, 3, 0),
    GRAY8(avutil.AV_PIX_FMT_GRAY8, 1, 0, 0, 0, -1),
    YA8(avutil.AV_PIX_FMT_YA8, 2, 0, 0, 0, 1),
    GRAY16BE(avutil.AV_PIX_FMT_GRAY16BE, 2, 0, 0, 0, -1),
    YA16BE(avutil.AV_PIX_FMT_YA16BE, 4, 0, 0, 0, 2),
    RGB48BE(avutil.AV_PIX_FMT_RGB48BE, 6, 0, 2, 4, -1),
    RGBA64BE(avutil.AV_PIX_FMT_RGBA64BE, 8, 0, 2, 4, 6),
    PALETTE(avutil.AV_PIX_FMT_PAL8, 1, 0, 0, 0, -1) {
        @Override
        RgbImage toRgb(AVFrame frame) {
            return palette(frame);
        }
    },
    ONE_BIT(avutil.AV_PIX_FMT_MONOBLACK, 1, 0, 0, 0, -1) {
        @Override
        RgbImage toRgb(AVFrame frame) {
            return oneBit(frame);
        }
    },
    YUV420P(avutil.AV_PIX_FMT_YUV420P, 1, 0, 0, 0, -1) {
        @Override
        RgbImage toRgb(AVFrame frame) {
            return WebpColour.toRgb(frame, false);
        }
    },
    YUVA420P(avutil.AV_PIX_FMT_YUVA420P, 1, 0, 0, 0, -1) {
        @Override
        RgbImage toRgb(AVFrame frame) {
            return WebpColour.toRgb(frame, true);
        }
    };

    private static final int WHITE = 255;
    private static final int PALETTE_BYTES = 256 * 4;

    private final int format;
    private final int pixelBytes;
    private final int red;
    private final int green;
    private final int blue;
    private final int alpha;

    /** The last four: byte of a pixel that holds each (the high byte of 16-bit samples); alpha -1 for opaque formats. */
    PixelLayout(int format, int pixelBytes, int red, int green, int blue, int alpha) {
        this.format = format;
        this.pixelBytes = pixelBytes;
        this.red = red;
        this.green = green;
        this.blue = blue;
        this.alpha = alpha;
    }

    static Optional<PixelLayout> of(int format) {
        return Arrays.stream(values()).filter(layout -> layout.format == format).findFirst();
    }

    RgbImage toRgb(AVFrame frame) {
        RgbImage out = RgbImage.black(frame.width(), frame.height());
        byte[] row = new byte[frame.width() * pixelBytes];
        int at = 0;
        for (int y = 0; y < frame.height(); y++) {
            row(frame, 0, y, row);
            for (int i = 0; i < row.length; i += pixelBytes) {
                int opacity = alpha < 0 ? 255 : row[i + alpha] & 0xff;
                out.rgb()[at++] = onWhite(row[i + red], opacity);
                out.rgb()[at++] = onWhite(row[i + green], opacity);
                out.rgb()[at++] = onWhite(row[i + blue], opacity);
            }
        }
        return out;
    }

    /** round((value * opacity + 255 * (255 - opacity)) / 255). */
    static byte onWhite(int value, int opacity) {
        int sum = (value & 0xff) * opacity + WHITE * (255 - opacity);
        return (byte) ((sum + 127) / 255);
    }

    /** Copies a row of a plane out of native memory. */
    static void row(AVFrame frame, int plane, int y, byte[] target) {
        frame.data(plane).position((long) y * frame.linesize(plane)).get(target, 0, target.length);
    }

    /** Entries are 32-bit ARGB in the machine's (little-endian) order. */
    private static RgbImage palette(AVFrame frame) {
        byte[] colours = new byte[PALETTE_BYTES];
        frame.data(1).get(colours, 0, PALETTE_BYTES);
        RgbImage out = RgbImage.black(frame.width(), frame.height());
        byte[] row = new byte[frame.width()];
        int at = 0;
        for (int y = 0; y < frame.height(); y++) {
            row(frame, 0, y, row);
            for (byte index : row) {
                int entry = 4 * (index & 0xff);
                int opacity = colours[entry + 3] & 0xff;
                out.rgb()[at++] = onWhite(colours[entry + 2], opacity);
                out.rgb()[at++] = onWhite(colours[entry + 1], opacity);
                out.rgb()[at++] = onWhite(colours[entry], opacity);
            }
        }
        return out;
    }

    private static RgbImage oneBit(AVFrame frame) {
        RgbImage out = RgbImage.black(frame.width(), frame.height());
        byte[] row = new byte[(frame.width() + 7) / 8];
        int at = 0;
        for (int y = 0; y < frame.height(); y++) {
            row(frame, 0, y, row);
            for (int x = 0; x < frame.width(); x++) {
                byte value = (byte) ((row[x >> 3] >> (7 - (x & 7)) & 1) == 0 ? 0 : 255);
                out.rgb()[at++] = value;
                out.rgb()[at++] = value;
                out.rgb()[at++] = value;
            }
        }
        return out;
    }
}
