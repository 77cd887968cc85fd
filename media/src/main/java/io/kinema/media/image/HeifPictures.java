package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.Decoder;
import io.kinema.media.ffmpeg.Demuxer;
import io.kinema.media.ffmpeg.FFmpeg;
import io.kinema.media.ffmpeg.FFmpegException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avcodec;

/**
 * Decodes HEIF pictures: HEIC (H.265) as phones store it, in one piece or as a grid of tiles, and AVIF (AV1). FFmpeg's reader of MP4
 * finds the coded pictures; the primary one is put together here. Its transparency, if it has any, is a picture of its own that is not read.
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
        return reading(file, name, (demuxer, layout) -> new ImageHeader(ImageFormat.HEIF, layout.width(), layout.height(), layout.orientation()));
    }

    /** The primary picture as it is stored, neither turned nor mirrored. */
    static RgbImage decode(byte[] file, String name, ImageLimits limits) {
        return reading(file, name, (demuxer, layout) -> {
            if (layout.codedPixels() > GRID_WASTE * limits.maxPixels()) {
                throw new BadMediaException("The picture " + name + " has tiles of " + layout.codedPixels() + " pixels together for a picture of "
                        + layout.width() + "x" + layout.height() + "; save it as JPEG or PNG.");
            }
            return assemble(demuxer, layout, name);
        });
    }

    private interface Step<T> {
        T apply(Demuxer demuxer, HeifLayout layout);
    }

    private static <T> T reading(byte[] file, String name, Step<T> step) {
        FFmpeg.load();
        try (Demuxer demuxer = Demuxer.openPictures(new BytesChannel(file))) {
            return step.apply(demuxer, HeifLayout.of(demuxer).orElseThrow(() -> ImageReader.damaged(name, "it names no primary picture that is coded")));
        } catch (FFmpegException e) {
            throw ImageReader.damaged(name, "FFmpeg says '" + e.reason() + "'");
        }
    }

    private static RgbImage assemble(Demuxer demuxer, HeifLayout layout, String name) {
        Map<Integer, List<HeifLayout.Tile>> wanted = layout.tiles().stream().collect(Collectors.groupingBy(tile -> tile.stream().index()));
        RgbImage picture = RgbImage.black((int) layout.width(), (int) layout.height());
        for (Optional<AVPacket> packet = demuxer.next(); packet.isPresent() && !wanted.isEmpty(); packet = demuxer.next()) {
            List<HeifLayout.Tile> places = wanted.remove(packet.get().stream_index());
            if (places != null) {
                RgbImage tile = tile(packet.get(), places.getFirst().stream(), name);
                places.forEach(place -> paste(tile, place.x() - layout.left(), place.y() - layout.top(), picture));
            }
        }
        if (!wanted.isEmpty()) {
            throw ImageReader.damaged(name, wanted.size() + " of its " + layout.tiles().size() + " coded pictures are missing");
        }
        return picture;
    }

    private static RgbImage tile(AVPacket packet, AVStream stream, String name) {
        long width = stream.codecpar().width();
        long height = stream.codecpar().height();
        List<RgbImage> decoded = new ArrayList<>();
        try (Decoder decoder = Decoder.open(decoderOf(stream, name), (width + PADDING) * (height + PADDING), context ->
                FFmpeg.check(avcodec.avcodec_parameters_to_context(context, stream.codecpar()), "describing a picture"))) {
            decoder.decode(packet, frame -> decoded.add(rgb(frame)));
            decoder.finish(frame -> decoded.add(rgb(frame)));
        }
        if (decoded.size() != 1 || decoded.getFirst().width() != width || decoded.getFirst().height() != height) {
            throw ImageReader.damaged(name, "one of its coded pictures decodes to " + decoded + " where its header says " + width + "x" + height);
        }
        return decoded.getFirst();
    }

    private static String decoderOf(AVStream stream, String name) {
        int codec = stream.codecpar().codec_id();
        return switch (codec) {
            case avcodec.AV_CODEC_ID_HEVC -> "hevc";
            case avcodec.AV_CODEC_ID_AV1 -> "libaom-av1";
            default -> throw new BadMediaException("The picture " + name + " is coded as " + avcodec.avcodec_get_name(codec).getString()
                    + ", which is not supported in HEIF; save it as JPEG or PNG.");
        };
    }

    private static RgbImage rgb(AVFrame frame) {
        try (FrameToRgb converter = FrameToRgb.of(frame)) {
            return converter.convert(frame);
        }
    }

    /** Copies what of a tile lies within the picture. */
    private static void paste(RgbImage tile, int x, int y, RgbImage picture) {
        int left = Math.max(0, x);
        int right = (int) Math.min(picture.width(), (long) x + tile.width());
        for (int row = Math.max(0, y); row < Math.min(picture.height(), (long) y + tile.height()) && left < right; row++) {
            System.arraycopy(tile.rgb(), ((row - y) * tile.width() + left - x) * RgbImage.CHANNELS, picture.rgb(),
                    (row * picture.width() + left) * RgbImage.CHANNELS, (right - left) * RgbImage.CHANNELS);
        }
    }
}
