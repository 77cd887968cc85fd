package io.kinema.media.image;

import io.kinema.media.ffmpeg.Frame;
import io.kinema.media.ffmpeg.Handles;
import io.kinema.media.ffmpeg.Scaler;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.ffmpeg.global.swscale;

/**
 * Owns the way from one size and pixel format of a decoder to 8-bit RGB, and the frame it goes through; closing twice is harmless.
 * Colours are converted with the matrix and range that the frame is tagged with, BT.601 limited if it has no tags, as FFmpeg does.
 */
public final class FrameToRgb implements AutoCloseable {

    private final int width;
    private final int height;
    private final int format;
    private final Handles handles;
    private final Frame rgb;
    private final Scaler scaler;

    private FrameToRgb(AVFrame frame, Handles handles) {
        this.handles = handles;
        this.width = frame.width();
        this.height = frame.height();
        this.format = frame.format();
        boolean full = frame.color_range() == avutil.AVCOL_RANGE_JPEG;
        this.scaler = handles.add(Scaler.open(width, height, format, avutil.AV_PIX_FMT_RGB24, matrix(frame.colorspace()), full, true));
        this.rgb = handles.add(Frame.picture(avutil.AV_PIX_FMT_RGB24, width, height));
    }

    /** For frames of this one's size and format. */
    public static FrameToRgb of(AVFrame frame) {
        return Handles.build(handles -> new FrameToRgb(frame, handles));
    }

    /** swscale's numbers of the matrices are those of the H.264 standard, which frames carry; it takes 601 for the rest. */
    private static int matrix(int colourSpace) {
        return switch (colourSpace) {
            case avutil.AVCOL_SPC_BT709 -> swscale.SWS_CS_ITU709;
            case avutil.AVCOL_SPC_FCC -> swscale.SWS_CS_FCC;
            case avutil.AVCOL_SPC_SMPTE240M -> swscale.SWS_CS_SMPTE240M;
            case avutil.AVCOL_SPC_BT2020_NCL, avutil.AVCOL_SPC_BT2020_CL -> swscale.SWS_CS_BT2020;
            default -> swscale.SWS_CS_ITU601;
        };
    }

    /** Whether a frame has the size and format this was opened for. */
    public boolean takes(AVFrame frame) {
        return frame.width() == width && frame.height() == height && frame.format() == format;
    }

    /** The frame's pixels, not turned. */
    public RgbImage convert(AVFrame frame) {
        AVFrame target = rgb.writable();
        scaler.convert(frame, target);
        RgbImage image = RgbImage.black(width, height);
        int rowBytes = width * RgbImage.CHANNELS;
        for (int y = 0; y < height; y++) {
            target.data(0).position((long) y * target.linesize(0)).get(image.rgb(), y * rowBytes, rowBytes);
        }
        return image;
    }

    @Override
    public void close() {
        handles.close();
    }
}
