package io.kinema.engine.plan;

import io.kinema.engine.AspectRatio;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.ModelGeometry;

/**
 * The picture size of a clip.
 *
 * @param width  pixels
 * @param height pixels
 */
record Canvas(int width, int height) {
    private static final double MAX_RATIO = 4;

    /**
     * The canvas for a ratio: the model's short edge, scaled down to its area, each side rounded (half to even) to the
     * canvas step.
     */
    static Canvas forRatio(String field, AspectRatio ratio, ModelGeometry model) {
        double r = ratio.value();
        requireRatio(field, ratio.toString(), r);
        double edge = model.canvasShortEdge();
        double width = r >= 1 ? edge * r : edge;
        double height = r >= 1 ? edge : edge / r;
        if (width * height > model.canvasMaxPixels()) {
            double scale = Math.sqrt(model.canvasMaxPixels() / (width * height));
            width *= scale;
            height *= scale;
        }
        return new Canvas(snap(width, model.canvasMultiple()), snap(height, model.canvasMultiple()));
    }

    /** A canvas asked for by size, checked against the model. */
    static Canvas explicit(int width, int height, ModelGeometry model) {
        requireStep("width", width, model);
        requireStep("height", height, model);
        requireRatio("width and height", width + "x" + height, (double) width / height);
        long area = (long) width * height;
        // A canvas that the ratio rule itself makes may pass the cap by the rounding of its sides; it is still the model's own.
        if (area > model.canvasMaxPixels() && !forRatio("width and height", new AspectRatio(width, height), model).equals(new Canvas(width, height))) {
            Canvas fits = forRatio("width and height", new AspectRatio(width, height), model);
            throw new BadRequestException("width and height", width + "x" + height + " (" + area + " pixels)",
                    "this model takes at most " + model.canvasMaxPixels() + " pixels; " + fits + " has this shape");
        }
        return new Canvas(width, height);
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

    private static void requireRatio(String field, String got, double ratio) {
        if (!(ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO)) {
            throw new BadRequestException(field, got, "expected a shape from 1:4 to 4:1");
        }
    }

    private static int snap(double pixels, int step) {
        return Math.max(step, (int) Math.rint(pixels / step) * step);
    }

    @Override
    public String toString() {
        return width + "x" + height;
    }
}
