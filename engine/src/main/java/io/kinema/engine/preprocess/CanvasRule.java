package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.ModelGeometry;

/**
 * How a shape becomes a canvas: the short edge first, then the area cap, then each side rounded (half to even) to the step; the
 * rounding may pass the cap again.
 *
 * @param multiple step of both sides, pixels
 * @param shortEdge short edge aimed at, pixels
 * @param maxPixels area scaled down to before rounding, pixels
 */
public record CanvasRule(int multiple, int shortEdge, long maxPixels) {

    private static final double MAX_RATIO = 4;

    public CanvasRule {
        if (multiple < 1 || shortEdge < 1 || maxPixels < 1) {
            throw new IllegalArgumentException("canvas rule: got multiple " + multiple + ", short edge " + shortEdge + ", area " + maxPixels
                    + ", expected positive numbers");
        }
    }

    /** The rule of a model. */
    public static CanvasRule of(ModelGeometry model) {
        return new CanvasRule(model.canvasMultiple(), model.canvasShortEdge(), model.canvasMaxPixels());
    }

    /**
     * The canvas for a shape; only the ratio of the two numbers matters.
     *
     * @throws BadRequestException if a number is not positive or the shape is not within 1:4 and 4:1
     */
    public PixelSize of(double aspectWidth, double aspectHeight) {
        double ratio = aspectWidth / aspectHeight;
        if (!(aspectWidth > 0 && aspectHeight > 0 && ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO)) {
            throw new BadRequestException("aspect ratio", aspectWidth + ":" + aspectHeight, "expected a shape from 1:4 to 4:1");
        }
        double width = ratio >= 1 ? shortEdge * ratio : shortEdge;
        double height = ratio >= 1 ? shortEdge : shortEdge / ratio;
        double area = width * height;
        if (area > maxPixels) {
            double scale = Math.sqrt(maxPixels / area);
            width *= scale;
            height *= scale;
        }
        return new PixelSize(PixelSize.snap(width / multiple, multiple), PixelSize.snap(height / multiple, multiple));
    }
}
