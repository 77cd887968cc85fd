package io.kinema.engine.preprocess;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.prompt.VisionGrid;
import io.kinema.media.image.RgbImage;
import io.kinema.media.image.TorchBicubic;
import io.kinema.weights.BadWeightsException;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the text encoder's vision input from pictures and videos: a size whose sides are multiples of {@code patch * merge} and
 * whose area is within bounds, torch's bicubic scaling, normalisation and patches in merge-block order.
 *
 * @param image how pictures are cut and bounded
 * @param imageNormalisation mean and standard deviation of pictures
 * @param video how videos are cut and bounded; its area counts all frames
 * @param videoNormalisation mean and standard deviation of videos
 */
public record VisionProcessor(Geometry image, Normalisation imageNormalisation, Geometry video, Normalisation videoNormalisation) {

    static final int CHANNELS = 3;

    private static final double MAX_RATIO = 200;

    /**
     * Sizes of one kind of input.
     *
     * @param patch side of a patch, pixels
     * @param temporalPatch frames of a patch
     * @param merge patches merged along each side
     * @param minPixels smallest area after scaling
     * @param maxPixels largest area after scaling
     */
    public record Geometry(int patch, int temporalPatch, int merge, long minPixels, long maxPixels) {

        /** The released processor's pictures. */
        public static final Geometry RELEASED_IMAGE = new Geometry(16, 2, 2, 65_536, 16_777_216);
        /** The released processor's videos. */
        public static final Geometry RELEASED_VIDEO = new Geometry(16, 2, 2, 4096, 25_165_824);

        public Geometry {
            if (patch < 1 || temporalPatch < 1 || merge < 1 || minPixels < 1 || maxPixels < minPixels) {
                throw new BadWeightsException("vision processor config: got patch " + patch + ", temporal patch " + temporalPatch
                        + ", merge " + merge + ", pixels " + minPixels + " to " + maxPixels + ", expected positive sizes in order");
            }
        }

        private static Geometry read(JsonNode config, Geometry released) {
            JsonNode size = config.path("size");
            return new Geometry(config.path("patch_size").asInt(released.patch),
                    config.path("temporal_patch_size").asInt(released.temporalPatch),
                    config.path("merge_size").asInt(released.merge),
                    size.path("shortest_edge").asLong(config.path("min_pixels").asLong(released.minPixels)),
                    size.path("longest_edge").asLong(config.path("max_pixels").asLong(released.maxPixels)));
        }

        /** What both sides are multiples of. */
        int factor() {
            return patch * merge;
        }
    }

    /**
     * Per-channel mean and standard deviation on the byte scale, 0..255.
     *
     * @param mean subtracted first
     * @param std divided by
     */
    public record Normalisation(List<Float> mean, List<Float> std) {

        public Normalisation {
            if (mean.size() != CHANNELS || std.size() != CHANNELS || std.stream().anyMatch(s -> !(s > 0))) {
                throw new BadWeightsException("vision processor config: got mean " + mean + " and std " + std
                        + ", expected three of each, std positive");
            }
            mean = List.copyOf(mean);
            std = List.copyOf(std);
        }

        private static Normalisation read(JsonNode config) {
            return new Normalisation(onByteScale(config.path("image_mean")), onByteScale(config.path("image_std")));
        }

        private static List<Float> onByteScale(JsonNode values) {
            if (values.isMissingNode()) {
                return List.of(127.5f, 127.5f, 127.5f);
            }
            return values.valueStream().map(v -> (float) (v.floatValue() * 255.0)).toList();
        }

        float apply(int value, int channel) {
            return (value - mean.get(channel)) / std.get(channel);
        }
    }

    /** Reads {@code preprocessor_config.json} and {@code video_preprocessor_config.json}; what they leave out is as released. */
    public static VisionProcessor read(JsonNode imageConfig, JsonNode videoConfig) {
        return new VisionProcessor(Geometry.read(imageConfig, Geometry.RELEASED_IMAGE), Normalisation.read(imageConfig),
                Geometry.read(videoConfig, Geometry.RELEASED_VIDEO), Normalisation.read(videoConfig));
    }

    /** The size a picture is scaled to. @throws BadRequestException if one side is over 200 times the other */
    public PixelSize imageSize(int width, int height) {
        return bounded(image, width, height, 1, 1);
    }

    /**
     * The size the frames of a video are scaled to.
     *
     * @throws BadRequestException if there are fewer frames than a temporal patch, or one side is over 200 times the other
     */
    public PixelSize videoSize(int frames, int width, int height) {
        int group = video.temporalPatch();
        if (frames < group) {
            throw new BadRequestException("references", "a video of " + frames + " sampled frames", "expected at least " + group);
        }
        int factor = video.factor();
        int w = width;
        int h = height;
        if (height < factor || width < factor) {
            double scale = Math.max((double) factor / height, (double) factor / width);
            w = (int) (width * scale);
            h = (int) (height * scale);
        }
        return bounded(video, w, h, frames, PixelSize.snap((double) frames / group, group));
    }

    /** Nearest multiples of the factor; outside the bounds, the largest below or the smallest above with the same shape. */
    private static PixelSize bounded(Geometry rules, int width, int height, int frames, int roundedFrames) {
        if ((double) Math.max(width, height) / Math.min(width, height) > MAX_RATIO) {
            throw new BadRequestException("references", width + "x" + height + " pixels", "expected sides within 200 times each other");
        }
        int factor = rules.factor();
        int w = (int) Math.rint((double) width / factor) * factor;
        int h = (int) Math.rint((double) height / factor) * factor;
        long pixels = (long) roundedFrames * w * h;
        double area = (double) frames * width * height;
        if (pixels > rules.maxPixels()) {
            double shrink = Math.sqrt(area / rules.maxPixels());
            return new PixelSize(Math.max(factor, (int) Math.floor(width / shrink / factor) * factor),
                    Math.max(factor, (int) Math.floor(height / shrink / factor) * factor));
        }
        if (pixels < rules.minPixels()) {
            double grow = Math.sqrt(rules.minPixels() / area);
            return new PixelSize((int) Math.ceil(width * grow / factor) * factor, (int) Math.ceil(height * grow / factor) * factor);
        }
        return new PixelSize(w, h);
    }

    /** The patches of a picture. */
    public VisionPixels image(RgbImage picture) {
        PixelSize size = imageSize(picture.width(), picture.height());
        RgbImage scaled = TorchBicubic.resize(picture, size.width(), size.height());
        return patches(image, imageNormalisation, List.of(scaled), 1);
    }

    /** The patches of sampled video frames of one size; the last is repeated to fill the last temporal patch. */
    public VisionPixels video(List<RgbImage> frames) {
        PixelSize size = videoSize(frames.size(), frames.getFirst().width(), frames.getFirst().height());
        List<RgbImage> scaled = frames.stream().map(f -> TorchBicubic.resize(f, size.width(), size.height())).toList();
        return patches(video, videoNormalisation, scaled, video.temporalPatch());
    }

    private static VisionPixels patches(Geometry rules, Normalisation normalisation, List<RgbImage> frames, int times) {
        VisionGrid grid = new VisionGrid(Math.ceilDiv(frames.size(), times), frames.getFirst().height() / rules.patch(),
                frames.getFirst().width() / rules.patch());
        PatchCutter cutter = new PatchCutter(rules, grid, times);
        for (int time = 0; time < grid.frames(); time++) {
            int first = time * times;
            List<RgbImage> group = new ArrayList<>();
            for (int i = first; i < first + times; i++) {
                group.add(frames.get(Math.min(i, frames.size() - 1)));
            }
            cutter.cut(group);
        }
        return new VisionPixels(grid, rules, normalisation, times, cutter.bytes());
    }
}
