package io.kinema.media.image;

import java.util.Optional;
import org.bytedeco.ffmpeg.avcodec.AVCodecParameters;
import org.bytedeco.ffmpeg.avcodec.AVPacketSideData;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.IntPointer;

/** How FFmpeg's display matrix of a stream says that its pictures are to be shown. */
public final class DisplayMatrix {

    private DisplayMatrix() {
    }

    /** The turn of a video, snapped to a quarter; a mirroring is not looked at. The matrix tells by how many degrees to turn counterclockwise. */
    public static Orientation turn(AVCodecParameters stream) {
        return matrix(stream.coded_side_data(), stream.nb_coded_side_data()).map(m -> {
            double degrees = avutil.av_display_rotation_get(m);
            return switch (Double.isNaN(degrees) ? 0 : Math.floorMod(Math.round(degrees / 90), 4)) {
                case 1 -> Orientation.TURN_COUNTERCLOCKWISE;
                case 2 -> Orientation.TURN_HALF;
                case 3 -> Orientation.TURN_CLOCKWISE;
                default -> Orientation.UPRIGHT;
            };
        }).orElse(Orientation.UPRIGHT);
    }

    /**
     * Turn and mirroring of a still picture: the matrix maps a stored pixel (x, y) to (a x + c y, b x + d y), where a, b, c, d are
     * its elements 0, 1, 3 and 4.
     */
    static Orientation orientation(AVPacketSideData sideData, int count) {
        return matrix(sideData, count).map(m -> {
            boolean across = Math.abs((long) m.get(0)) < Math.abs((long) m.get(1));
            boolean toLeft = (across ? m.get(3) : m.get(0)) < 0;
            boolean toTop = (across ? m.get(1) : m.get(4)) < 0;
            if (across) {
                return toLeft ? toTop ? Orientation.TRANSVERSE : Orientation.TURN_CLOCKWISE
                        : toTop ? Orientation.TURN_COUNTERCLOCKWISE : Orientation.TRANSPOSE;
            }
            return toLeft ? toTop ? Orientation.TURN_HALF : Orientation.FLIP_HORIZONTALLY
                    : toTop ? Orientation.FLIP_VERTICALLY : Orientation.UPRIGHT;
        }).orElse(Orientation.UPRIGHT);
    }

    private static Optional<IntPointer> matrix(AVPacketSideData sideData, int count) {
        if (count == 0) {
            return Optional.empty();
        }
        AVPacketSideData matrix = avcodec.av_packet_side_data_get(sideData, count, avcodec.AV_PKT_DATA_DISPLAYMATRIX);
        return matrix == null || matrix.isNull() ? Optional.empty() : Optional.of(new IntPointer(matrix.data()));
    }
}
