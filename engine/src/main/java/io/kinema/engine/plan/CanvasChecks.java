package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.PixelSize;

/** Checks a canvas that is asked for by size. */
final class CanvasChecks {
    private CanvasChecks() {
    }

    /** The canvas, when the model can make it. */
    static PixelSize explicit(int width, int height, ModelGeometry model) {
        requireStep("width", width, model);
        requireStep("height", height, model);
        PixelSize fits = CanvasRule.of(model).of(width, height);
        PixelSize canvas = new PixelSize(width, height);
        long area = (long) width * height;
        // A canvas that the ratio rule itself makes may pass the cap by the rounding of its sides; it is still the model's own.
        if (area > model.canvasMaxPixels() && !fits.equals(canvas)) {
            throw new BadRequestException("width and height", canvas + " (" + area + " pixels)",
                    "expected at most " + model.canvasMaxPixels() + " pixels; " + fits + " has this shape");
        }
        return canvas;
    }

    private static void requireStep(String field, int pixels, ModelGeometry model) {
        int step = model.canvasMultiple();
        long most = model.canvasMaxPixels() / step / step * step;
        if (pixels < step || pixels > most) {
            throw new BadRequestException(field, "" + pixels, "expected " + step + " to " + most + " pixels, a multiple of " + step);
        }
        if (pixels % step != 0) {
            int below = pixels / step * step;
            throw new BadRequestException(field, "" + pixels, "expected a multiple of " + step + "; the nearest are "
                    + below + " and " + (below + step));
        }
    }
}
