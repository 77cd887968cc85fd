package io.kinema.model.text;

import java.util.List;

/** Walks the patches of vision grids in the order of their pixel rows: frame, merge block, then row and column in the block. */
final class PatchOrder {
    private PatchOrder() {
    }

    /** Sees patch {@code index} of all at (row, column) of its frame. */
    @FunctionalInterface
    interface Visitor {
        void patch(int index, int row, int column, PatchGrid grid);
    }

    static void walk(List<PatchGrid> grids, int merge, Visitor visitor) {
        int index = 0;
        for (PatchGrid grid : grids) {
            for (int frame = 0; frame < grid.frames(); frame++) {
                index = walkFrame(grid, merge, index, visitor);
            }
        }
    }

    private static int walkFrame(PatchGrid grid, int merge, int first, Visitor visitor) {
        int perBlock = merge * merge;
        int blocksAcross = grid.width() / merge;
        int count = grid.height() * grid.width();
        for (int i = 0; i < count; i++) {
            int block = i / perBlock;
            int inBlock = i % perBlock;
            int row = block / blocksAcross * merge + inBlock / merge;
            int column = block % blocksAcross * merge + inBlock % merge;
            visitor.patch(first + i, row, column, grid);
        }
        return first + count;
    }
}
