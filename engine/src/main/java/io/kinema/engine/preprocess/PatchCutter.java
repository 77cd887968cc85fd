package io.kinema.engine.preprocess;

import io.kinema.engine.prompt.VisionGrid;
import io.kinema.media.image.RgbImage;
import java.util.List;

/** Writes patches one after the other, in merge-block order. */
final class PatchCutter {

    private final VisionProcessor.Geometry rules;
    private final VisionGrid grid;
    private final byte[] bytes;
    private int at;

    PatchCutter(VisionProcessor.Geometry rules, VisionGrid grid, int times) {
        this.rules = rules;
        this.grid = grid;
        int patchBytes = VisionProcessor.CHANNELS * times * rules.patch() * rules.patch();
        this.bytes = new byte[Math.multiplyExact(grid.frames() * grid.height() * grid.width(), patchBytes)];
    }

    /** The bytes written so far. */
    byte[] bytes() {
        return bytes;
    }

    /** Writes all patches of one temporal patch. */
    void cut(List<RgbImage> group) {
        int merge = rules.merge();
        for (int blockRow = 0; blockRow < grid.height(); blockRow += merge) {
            for (int blockColumn = 0; blockColumn < grid.width(); blockColumn += merge) {
                for (int i = 0; i < merge * merge; i++) {
                    patch(group, (blockRow + i / merge) * rules.patch(), (blockColumn + i % merge) * rules.patch());
                }
            }
        }
    }

    private void patch(List<RgbImage> group, int top, int left) {
        for (int channel = 0; channel < VisionProcessor.CHANNELS; channel++) {
            for (RgbImage frame : group) {
                for (int y = top; y < top + rules.patch(); y++) {
                    int from = (y * frame.width() + left) * VisionProcessor.CHANNELS + channel;
                    for (int x = 0; x < rules.patch(); x++) {
                        bytes[at++] = frame.rgb()[from + x * VisionProcessor.CHANNELS];
                    }
                }
            }
        }
    }
}
