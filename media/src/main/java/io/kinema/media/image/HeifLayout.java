package io.kinema.media.image;

import io.kinema.media.ffmpeg.Demuxer;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.bytedeco.ffmpeg.avcodec.AVCodecParameters;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avformat.AVStreamGroup;
import org.bytedeco.ffmpeg.avformat.AVStreamGroupTileGrid;
import org.bytedeco.ffmpeg.global.avformat;

/**
 * Where the coded pictures of a HEIF file's primary picture lie: one, or the tiles of a grid (ISO/IEC 23008-12, 6.6.2.3), of which
 * the last row and column may reach beyond the picture.
 *
 * @param width       pixels of the stored picture
 * @param height      likewise
 * @param left        first column of the picture in the grid
 * @param top         first row of the picture in the grid
 * @param tiles       what to decode, at least one
 * @param orientation how to turn the stored picture upright; the file's own rotation and mirroring, which EXIF data does not override
 */
record HeifLayout(long width, long height, int left, int top, List<Tile> tiles, Orientation orientation) {

    /**
     * One coded picture and where its first pixel belongs in the grid.
     *
     * @param stream native; valid while the demuxer is open
     */
    record Tile(AVStream stream, int x, int y) {
        long width() {
            return stream.codecpar().width();
        }

        long height() {
            return stream.codecpar().height();
        }
    }

    /** The layout of the primary picture, or empty when the file names none. */
    static Optional<HeifLayout> of(Demuxer demuxer) {
        Optional<HeifLayout> grid = demuxer.groups().stream().filter(HeifLayout::isPrimaryGrid).findFirst().map(HeifLayout::grid);
        return grid.isPresent() ? grid : demuxer.streams().stream().filter(HeifLayout::isPrimary).findFirst().map(HeifLayout::single);
    }

    private static boolean isPrimaryGrid(AVStreamGroup group) {
        return group.type() == avformat.AV_STREAM_GROUP_PARAMS_TILE_GRID && (group.disposition() & avformat.AV_DISPOSITION_DEFAULT) != 0
                && group.params_tile_grid().nb_tiles() > 0;
    }

    private static boolean isPrimary(AVStream stream) {
        return (stream.disposition() & avformat.AV_DISPOSITION_DEFAULT) != 0;
    }

    private static HeifLayout single(AVStream stream) {
        AVCodecParameters picture = stream.codecpar();
        return new HeifLayout(picture.width(), picture.height(), 0, 0, List.of(new Tile(stream, 0, 0)),
                DisplayMatrix.orientation(picture.coded_side_data(), picture.nb_coded_side_data()));
    }

    private static HeifLayout grid(AVStreamGroup group) {
        AVStreamGroupTileGrid grid = group.params_tile_grid();
        List<Tile> tiles = IntStream.range(0, grid.nb_tiles()).mapToObj(i -> {
            int stream = Math.clamp(grid.offsets_idx(i), 0, group.nb_streams() - 1);
            return new Tile(group.streams(stream), grid.offsets_horizontal(i), grid.offsets_vertical(i));
        }).toList();
        return new HeifLayout(grid.width(), grid.height(), grid.horizontal_offset(), grid.vertical_offset(), tiles,
                DisplayMatrix.orientation(grid.coded_side_data(), grid.nb_coded_side_data()));
    }

    /** Pixels to decode; tiles that are used twice count twice. */
    long codedPixels() {
        return tiles.stream().mapToLong(tile -> Math.max(0, tile.width()) * Math.max(0, tile.height())).sum();
    }
}
