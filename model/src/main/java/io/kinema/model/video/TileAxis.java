package io.kinema.model.video;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Tiles along one axis. All have the same length; tile i starts at {@code starts[i]} and shares {@code overlaps[i]}
 * with tile i + 1.
 *
 * @param length   of every tile
 * @param starts   first position of each tile
 * @param overlaps shared with the next tile; one fewer than tiles
 */
public record TileAxis(int length, List<Integer> starts, List<Integer> overlaps) {
    public TileAxis {
        starts = List.copyOf(starts);
        overlaps = List.copyOf(overlaps);
    }

    /**
     * Covers {@code extent} with as few tiles as allow every overlap to be at least {@code overlap}. What the tiles are too
     * long by widens the overlaps one after the other, {@code step} at a time, so that tiles start on multiples of it.
     *
     * @throws IllegalArgumentException when several tiles are needed and a size is no multiple of {@code step}
     */
    public static TileAxis cover(int extent, int tile, int overlap, int step) {
        if (tile >= extent) {
            return new TileAxis(extent, List.of(0), List.of());
        }
        if (tile % step != 0 || overlap % step != 0 || extent % step != 0) {
            throw new IllegalArgumentException("tiling: got extent " + extent + ", tile " + tile + ", overlap " + overlap
                    + ", expected multiples of " + step + " pixels, the size of a latent");
        }
        int count = 1 + Math.ceilDiv(extent - tile, tile - overlap);
        int[] overlaps = new int[count - 1];
        Arrays.fill(overlaps, overlap);
        int slack = tile * count - overlap * (count - 1) - extent;
        for (int i = 0; i < slack / step; i++) {
            overlaps[i % (count - 1)] += step;
        }
        List<Integer> starts = new ArrayList<>(List.of(0));
        for (int shared : overlaps) {
            starts.add(starts.getLast() + tile - shared);
        }
        return new TileAxis(tile, starts, Arrays.stream(overlaps).boxed().toList());
    }

    /** Number of tiles. */
    public int count() {
        return starts.size();
    }

    /** Overlap of tile {@code i} with the one before it; 0 for the first. */
    public int overlapBefore(int i) {
        return i == 0 ? 0 : overlaps.get(i - 1);
    }

    /** Overlap of tile {@code i} with the one after it; 0 for the last. */
    public int overlapAfter(int i) {
        return i == count() - 1 ? 0 : overlaps.get(i);
    }

    /** The widest overlap, 0 for a single tile. */
    public int widestOverlap() {
        return overlaps.stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    /** The same tiles in units {@code divisor} times larger. */
    public TileAxis dividedBy(int divisor) {
        return new TileAxis(length / divisor, starts.stream().map(s -> s / divisor).toList(), overlaps.stream().map(o -> o / divisor).toList());
    }
}
