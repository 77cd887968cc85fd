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

    private static Optional<IntPointer> matrix(AVPacketSideData sideData, int count) {
        if (count == 0) {
            return Optional.empty();
        }
        AVPacketSideData matrix = avcodec.av_packet_side_data_get(sideData, count, avcodec.AV_PKT_DATA_DISPLAYMATRIX);
        return matrix == null || matrix.isNull() ? Optional.empty() : Optional.of(new IntPointer(matrix.data()));
    }
}
