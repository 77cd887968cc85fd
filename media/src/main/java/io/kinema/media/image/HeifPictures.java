package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.Decoder;
import io.kinema.media.ffmpeg.FFmpegException;
import io.kinema.media.ffmpeg.Packet;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.BytePointer;

/**
 * Decodes HEIF pictures: HEIC (H.265) as phones store it, in one piece or as a grid of tiles, and AVIF (AV1). The coded pictures are
 * found here and decoded by FFmpeg. Transparency, if there is any, is a picture of its own and not read.
 */
final class HeifPictures {

    /** FFmpeg rounds the sides of its buffers up, and some decoders keep a wide edge around the picture. */
    private static final int PADDING = 256;

    /** Tiles reach beyond the picture, by less than one tile on each side. */
    private static final int GRID_WASTE = 4;

    private HeifPictures() {
    }

    /** What the file says of its primary picture; nothing is decoded. */
    static ImageHeader header(byte[] file, String name) {
        return reading(file, name, items -> {
            HeifLayout layout = HeifLayout.of(items, name);
            return new ImageHeader(ImageFormat.HEIF, layout.width(), layout.height(), layout.orientation());
        });
    }

    /** The primary picture as it is stored, neither turned nor mirrored. */
    static RgbImage decode(byte[] file, String name, ImageLimits limits) {
        return reading(file, name, items -> {
            HeifLayout layout = HeifLayout.of(items, name);
            if (layout.codedPixels() > GRID_WASTE * limits.maxPixels()) {
                throw new BadMediaException("The picture " + name + " has tiles of " + layout.codedPixels() + " pixels together for a picture of "
                        + layout.width() + "x" + layout.height() + "; save it as JPEG or PNG.");
            }
            RgbImage picture = RgbImage.black((int) layout.width(), (int) layout.height());
            layout.tiles().forEach(tile -> paste(decode(tile, items.data(tile.item()), name), (int) tile.x(), (int) tile.y(), picture));
            return picture;
        });
    }

    private static <T> T reading(byte[] file, String name, Function<HeifItems, T> step) {
        try {
            return step.apply(HeifItems.of(file).orElseThrow(() -> ImageReader.damaged(name, "it says nothing of what it holds")));
        } catch (BufferUnderflowException e) {
            throw ImageReader.damaged(name, "one of its boxes is cut off or points beyond it");
        } catch (FFmpegException e) {
            throw ImageReader.damaged(name, "FFmpeg says '" + e.reason() + "'");
        }
    }

    private static RgbImage decode(HeifLayout.Tile tile, ByteBuffer data, String name) {
        List<RgbImage> decoded = new ArrayList<>();
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        long pixels = (tile.width() + PADDING) * (tile.height() + PADDING);
        try (Decoder decoder = Decoder.open(tile.decoder(), pixels, context -> configure(context, tile.config())); Packet packet = Packet.of(bytes)) {
            decoder.decode(packet.get(), frame -> decoded.add(rgb(frame, tile)));
            decoder.finish(frame -> decoded.add(rgb(frame, tile)));
        }
        if (decoded.size() != 1 || decoded.getFirst().width() != tile.width() || decoded.getFirst().height() != tile.height()) {
            throw ImageReader.damaged(name, "one of its coded pictures decodes to " + decoded + " where its header says " + tile.width() + "x"
                    + tile.height());
        }
        return decoded.getFirst();
    }

    /** The context owns the copy and frees it with FFmpeg's allocator. */
    private static void configure(AVCodecContext context, ByteBuffer config) {
        byte[] bytes = new byte[config.remaining()];
        config.duplicate().get(bytes);
        BytePointer copy = new BytePointer(avutil.av_mallocz(bytes.length + avcodec.AV_INPUT_BUFFER_PADDING_SIZE));
        copy.put(bytes, 0, bytes.length);
        context.extradata(copy).extradata_size(bytes.length);
    }

    private static RgbImage rgb(AVFrame frame, HeifLayout.Tile tile) {
        tile.colour().ifPresent(colour -> frame.colorspace(colour.matrix()).color_range(colour.full() ? avutil.AVCOL_RANGE_JPEG : avutil.AVCOL_RANGE_MPEG));
        try (FrameToRgb converter = FrameToRgb.of(frame)) {
            return converter.convert(frame);
        }
    }

    /** Copies what of a tile lies within the picture. */
    private static void paste(RgbImage tile, int x, int y, RgbImage picture) {
        int width = Math.min(tile.width(), picture.width() - x);
        for (int row = 0; row < Math.min(tile.height(), picture.height() - y) && width > 0; row++) {
            System.arraycopy(tile.rgb(), row * tile.width() * RgbImage.CHANNELS, picture.rgb(),
                    ((y + row) * picture.width() + x) * RgbImage.CHANNELS, width * RgbImage.CHANNELS);
        }
    }
}
