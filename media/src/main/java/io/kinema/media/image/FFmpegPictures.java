package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.Decoder;
import io.kinema.media.ffmpeg.FFmpegException;
import io.kinema.media.ffmpeg.Packet;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.ffmpeg.avutil.AVFrame;

/** Decodes PNG and WebP with FFmpeg's decoders of those names; no demuxer, so nothing else can be tried on a file. */
final class FFmpegPictures {

    private static final int PADDING = 64;

    private FFmpegPictures() {
    }

    static RgbImage decode(byte[] file, ImageHeader header, String name) {
        String decoderName = header.format() == ImageFormat.PNG ? "png" : "webp";
        // FFmpeg counts the padding of its own rows too.
        long pixels = (header.width() + PADDING) * (header.height() + PADDING);
        List<RgbImage> images = new ArrayList<>();
        try (Decoder decoder = Decoder.open(decoderName, pixels, context -> { }); Packet packet = Packet.of(file)) {
            decoder.decode(packet.get(), frame -> images.add(toRgb(frame, name)));
            decoder.finish(frame -> images.add(toRgb(frame, name)));
        } catch (FFmpegException e) {
            throw ImageReader.damaged(name, "FFmpeg says '" + e.reason() + "'");
        }
        if (images.isEmpty()) {
            throw ImageReader.damaged(name, "it holds no picture");
        }
        return images.getFirst();
    }

    private static RgbImage toRgb(AVFrame frame, String name) {
        return PixelLayout.of(frame.format()).orElseThrow(() -> new BadMediaException("The picture " + name
                + " uses a pixel format that is not supported; save it again as 8-bit RGB.")).toRgb(frame);
    }
}
