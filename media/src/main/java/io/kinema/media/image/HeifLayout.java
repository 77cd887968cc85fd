package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What to decode for a HEIF file's primary picture: one coded picture, or the tiles of a grid (ISO/IEC 23008-12, 6.6.2.3), of
 * which the last row and column may reach beyond the picture.
 *
 * @param width       pixels of the stored picture
 * @param height      likewise
 * @param tiles       at least one
 * @param orientation how to turn the stored picture upright; the file's own rotation and mirroring, which EXIF data does not override
 */
record HeifLayout(long width, long height, List<Tile> tiles, Orientation orientation) {

    /** Properties that are understood, or that describe and change nothing. */
    private static final Set<String> KNOWN = Set.of("ispe", "hvcC", "av1C", "irot", "imir", "pixi", "colr", "pasp", "auxC", "lsel", "a1op");

    /**
     * One coded picture and where its first pixel belongs.
     *
     * @param item   its number in {@code items}
     * @param decoder FFmpeg's name of the decoder
     * @param config the decoder's configuration record
     * @param colour how its values are to be understood, if the file says so
     */
    record Tile(long item, String decoder, ByteBuffer config, long width, long height, long x, long y, Optional<Colour> colour) {
    }

    /**
     * The numbers of ISO/IEC 23091-2.
     *
     * @param matrix luma and chroma weights
     * @param full   whether values use the whole range
     */
    record Colour(int matrix, boolean full) {
    }

    /** @throws BadMediaException when the file is damaged, names no primary picture, or one that cannot be shown */
    static HeifLayout of(HeifItems items, String name) {
        long primary = items.primary();
        requireKnown(items, primary, name);
        Size size = size(items, primary, name);
        return switch (items.type(primary)) {
            case "hvc1", "av01" -> new HeifLayout(size.width(), size.height(), List.of(tile(items, primary, 0, 0, name)), orientation(items, primary));
            case "grid" -> grid(items, primary, name);
            case "" -> throw ImageReader.damaged(name, "it names no primary picture");
            default -> throw new BadMediaException("The picture " + name + " is stored as '" + printable(items.type(primary))
                    + "', which is not supported in HEIF; save it as JPEG or PNG.");
        };
    }

    private record Size(long width, long height) {
    }

    private static HeifLayout grid(HeifItems items, long primary, String name) {
        ByteBuffer grid = items.data(primary);
        grid.get();
        boolean wide = (grid.get() & 1) != 0;
        int rows = 1 + (grid.get() & 0xff);
        int columns = 1 + (grid.get() & 0xff);
        long width = HeifBoxes.number(grid, wide ? 4 : 2);
        long height = HeifBoxes.number(grid, wide ? 4 : 2);
        List<Long> parts = items.parts(primary);
        if (parts.size() != rows * columns) {
            throw ImageReader.damaged(name, "its grid of " + rows + "x" + columns + " has " + parts.size() + " tiles");
        }
        List<Tile> tiles = new ArrayList<>();
        Size first = size(items, parts.getFirst(), name);
        for (int i = 0; i < parts.size(); i++) {
            requireKnown(items, parts.get(i), name);
            Tile tile = tile(items, parts.get(i), i % columns * first.width(), i / columns * first.height(), name);
            if (tile.width() != first.width() || tile.height() != first.height()) {
                throw ImageReader.damaged(name, "the tiles of its grid differ in size");
            }
            tiles.add(tile);
        }
        if (columns * first.width() < width || rows * first.height() < height) {
            throw ImageReader.damaged(name, "its grid of " + rows + "x" + columns + " tiles of " + first.width() + "x" + first.height()
                    + " does not cover its " + width + "x" + height + " pixels");
        }
        return new HeifLayout(width, height, tiles, orientation(items, primary));
    }

    private static Tile tile(HeifItems items, long item, long x, long y, String name) {
        String type = items.type(item);
        if (!type.equals("hvc1") && !type.equals("av01")) {
            throw ImageReader.damaged(name, "one of its tiles is no coded picture");
        }
        Size size = size(items, item, name);
        boolean hevc = type.equals("hvc1");
        ByteBuffer config = property(items, item, hevc ? "hvcC" : "av1C")
                .orElseThrow(() -> ImageReader.damaged(name, "one of its coded pictures has no configuration"));
        return new Tile(item, hevc ? "hevc" : "libaom-av1", config, size.width(), size.height(), x, y, colour(items, item));
    }

    private static Optional<ByteBuffer> property(HeifItems items, long item, String type) {
        return items.properties(item).stream().map(HeifItems.Property::box).filter(box -> box.type().equals(type)).findFirst()
                .map(box -> box.body().duplicate());
    }

    private static Size size(HeifItems items, long item, String name) {
        ByteBuffer extent = property(items, item, "ispe").orElseThrow(() -> ImageReader.damaged(name, "one of its pictures has no size"));
        extent.getInt();
        return new Size(HeifBoxes.number(extent, 4), HeifBoxes.number(extent, 4));
    }

    private static Optional<Colour> colour(HeifItems items, long item) {
        return items.properties(item).stream().map(HeifItems.Property::box).filter(box -> box.type().equals("colr"))
                .map(box -> box.body().duplicate()).filter(colr -> HeifBoxes.characters(colr).equals("nclx")).findFirst().map(colr -> {
                    colr.getInt();
                    return new Colour(colr.getShort() & 0xffff, colr.get() < 0);
                });
    }

    private static void requireKnown(HeifItems items, long item, String name) {
        items.properties(item).stream().filter(HeifItems.Property::essential).map(property -> property.box().type())
                .filter(type -> !KNOWN.contains(type)).findFirst().ifPresent(type -> {
                    throw new BadMediaException("The picture " + name + " needs the property '" + printable(type)
                            + "', which is not supported in HEIF; save it as JPEG or PNG.");
                });
    }

    private static String printable(String type) {
        return type.replaceAll("[^A-Za-z0-9 ]", "?");
    }

    /**
     * Rotations and mirrorings in the order in which the file lists them. The stored pixel (x, y) is shown at (a x + c y, b x + d y).
     */
    private static Orientation orientation(HeifItems items, long item) {
        int a = 1;
        int b = 0;
        int c = 0;
        int d = 1;
        for (HeifItems.Property property : items.properties(item)) {
            ByteBuffer body = property.box().body().duplicate();
            if (property.box().type().equals("irot")) {
                for (int turns = body.get() & 3; turns > 0; turns--) {
                    int right = a;
                    a = b;
                    b = -right;
                    int down = c;
                    c = d;
                    d = -down;
                }
            } else if (property.box().type().equals("imir")) {
                int across = (body.get() & 1) == 0 ? 1 : -1;
                a *= across;
                c *= across;
                b *= -across;
                d *= -across;
            }
        }
        return orientation(a, b, c, d);
    }

    private static Orientation orientation(int a, int b, int c, int d) {
        if (a == 0) {
            return c < 0 ? b < 0 ? Orientation.TRANSVERSE : Orientation.TURN_CLOCKWISE
                    : b < 0 ? Orientation.TURN_COUNTERCLOCKWISE : Orientation.TRANSPOSE;
        }
        return a < 0 ? d < 0 ? Orientation.TURN_HALF : Orientation.FLIP_HORIZONTALLY
                : d < 0 ? Orientation.FLIP_VERTICALLY : Orientation.UPRIGHT;
    }

    /** Pixels to decode. @throws BufferUnderflowException when there are more than a number can hold */
    long codedPixels() {
        long sum = 0;
        for (Tile tile : tiles) {
            if (tile.width() > Integer.MAX_VALUE || tile.height() > Integer.MAX_VALUE) {
                throw new BufferUnderflowException();
            }
            sum += Math.min(Long.MAX_VALUE / 2 / tiles.size(), tile.width() * tile.height());
        }
        return sum;
    }
}
