package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.AspectRatio;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.Task;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.Patch;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The sizes and rates of one model that a request is checked against; all read from its configs.
 *
 * @param canvasMultiple          width and height are multiples of this many pixels
 * @param canvasShortEdge         short edge that a canvas made from a ratio aims at, pixels
 * @param canvasMaxPixels         area that such a canvas is scaled down to, pixels
 * @param referenceImageShortEdge short edge that a reference picture is brought to, pixels
 * @param spatialCompression      pixels per latent cell and axis
 * @param counts                  how pixel frames, latent frames and audio latents belong together
 * @param latentChannels          channels of a video latent
 * @param patch                   latent cells of a transformer row
 * @param audioLatentChannels     channels of an audio latent
 * @param sampleRate              of the sound, Hz
 * @param audioHop                samples per audio latent
 * @param flowShift               the video schedule's own shift
 * @param audioFlowShift          the sound schedule's own shift
 * @param tasks                   what it has a transformer for
 * @param limits                  durations and defaults
 */
public record ModelGeometry(int canvasMultiple, int canvasShortEdge, long canvasMaxPixels, int referenceImageShortEdge,
                            int spatialCompression, FrameCounts counts, int latentChannels, Patch patch,
                            int audioLatentChannels, int sampleRate, int audioHop, double flowShift, double audioFlowShift,
                            Set<Task> tasks, Limits limits) {
    private static final int RELEASED_SHORT_EDGE = 768;
    private static final long RELEASED_MAX_PIXELS = 768L * 1344;
    private static final int RELEASED_REFERENCE_EDGE = 2048;

    /**
     * What follows from how large a model is.
     *
     * @param minSeconds    shortest clip, measured on the snapped frame count; 0 for none
     * @param maxSeconds    longest clip
     * @param defaultFrames frames when a request names none
     * @param defaultSteps  model evaluations when a request names none
     * @param defaultAspect shape of the canvas when a request names neither size, shape nor keyframe
     */
    public record Limits(double minSeconds, double maxSeconds, int defaultFrames, int defaultSteps, AspectRatio defaultAspect) {
        /** The released model: 4 to 15 s (its card); 124 frames, 50 grid points and 16:9 (its reference implementation). */
        static final Limits RELEASED = new Limits(4, 15, 124, 49, new AspectRatio(16, 9));
        /** A model of a smaller canvas: clips as short as its decoder can make, and defaults that a laptop makes in seconds. */
        static final Limits SMALL = new Limits(0, 15, 39, 8, new AspectRatio(1, 1));
    }

    /**
     * Reads the sizes. A model whose index states a smaller canvas than the released 768-pixel short edge was trained on
     * short clips as well: it has no minimum duration. Optional keys {@code min_duration_seconds},
     * {@code max_duration_seconds}, {@code default_num_frames} and {@code default_num_evaluations} of the index overrule.
     */
    static ModelGeometry read(JsonNode index, Map<Component, Path> folders, double flowShift, double audioFlowShift) {
        JsonNode vae = NetworkFolder.read(folders.get(Component.VIDEO_VAE)).config();
        JsonNode audioVae = NetworkFolder.read(folders.get(Component.AUDIO_VAE)).config();
        JsonNode transformer = NetworkFolder.read(folders.containsKey(Component.TRANSFORMER) ? folders.get(Component.TRANSFORMER)
                : folders.get(Component.TRANSFORMER_REF)).config();
        int spatial = product(vae, "spatial_downsample_factors", new int[] {2, 2, 2, 2});
        int temporal = product(vae, "temporal_downsample_factors", new int[] {1, 2, 2, 1});
        int clip = positive(vae, "clip_length", 17);
        int[] patch = ints(transformer, "patch_size", new int[] {1, 2, 2});
        if (patch.length != 3) {
            throw new BadWeightsException("transformer config: patch_size has " + patch.length + " sizes, expected 3");
        }
        int shortEdge = positive(index, "canvas_short_edge", RELEASED_SHORT_EDGE);
        Limits base = shortEdge < RELEASED_SHORT_EDGE ? Limits.SMALL : Limits.RELEASED;
        Limits limits = new Limits(index.path("min_duration_seconds").asDouble(base.minSeconds()),
                index.path("max_duration_seconds").asDouble(base.maxSeconds()),
                positive(index, "default_num_frames", base.defaultFrames()),
                positive(index, "default_num_evaluations", base.defaultSteps()), base.defaultAspect());
        return new ModelGeometry(spatial * patch[2], shortEdge, index.path("canvas_max_pixels").asLong(RELEASED_MAX_PIXELS),
                positive(index, "reference_image_short_edge", RELEASED_REFERENCE_EDGE), spatial,
                new FrameCounts(clip, Math.ceilDiv(clip, temporal)), positive(vae, "latent_channels", 24), new Patch(patch[0], patch[1], patch[2]),
                positive(audioVae, "latent_channels", 32), positive(audioVae, "sampling_rate", 32_000),
                product(audioVae, "encoder_rates", new int[] {2, 4, 4, 5, 5}), flowShift, audioFlowShift, tasks(folders), limits);
    }

    /** The same geometry with another canvas rule and reference size. */
    public ModelGeometry withCanvas(int shortEdge, long maxPixels, int referenceShortEdge) {
        return new ModelGeometry(canvasMultiple, shortEdge, maxPixels, referenceShortEdge, spatialCompression, counts,
                latentChannels, patch, audioLatentChannels, sampleRate, audioHop, flowShift, audioFlowShift, tasks, limits);
    }

    /** The same geometry with another shortest clip. */
    public ModelGeometry withMinSeconds(double seconds) {
        return new ModelGeometry(canvasMultiple, canvasShortEdge, canvasMaxPixels, referenceImageShortEdge, spatialCompression,
                counts, latentChannels, patch, audioLatentChannels, sampleRate, audioHop, flowShift,
                audioFlowShift, tasks, new Limits(seconds, limits.maxSeconds(), limits.defaultFrames(), limits.defaultSteps(),
                limits.defaultAspect()));
    }

    /** The same geometry for every task, for a caller that has checked the task itself. */
    public ModelGeometry forEveryTask() {
        return new ModelGeometry(canvasMultiple, canvasShortEdge, canvasMaxPixels, referenceImageShortEdge, spatialCompression, counts,
                latentChannels, patch, audioLatentChannels, sampleRate, audioHop, flowShift, audioFlowShift, EnumSet.allOf(Task.class), limits);
    }

    /**
     * Refuses a task that the model has no transformer for, and names the partition that has one.
     *
     * @throws BadRequestException when {@link #tasks} lacks it
     */
    public void requireTask(Task task) {
        if (tasks.contains(task)) {
            return;
        }
        Component needed = Component.transformerOf(task);
        throw new BadRequestException("task", task.label(), "expected " + labels() + ": this model has no transformer for " + task.label()
                + "; give --model a folder with the " + (needed == Component.TRANSFORMER_REF ? "Ref2VA" : "FL2VA") + " partition ("
                + needed.key() + " in the diffusers layout)");
    }

    private String labels() {
        return Arrays.stream(Task.values()).filter(tasks::contains).map(Task::label).collect(Collectors.joining(" or "));
    }

    private static Set<Task> tasks(Map<Component, Path> folders) {
        return Arrays.stream(Task.values()).filter(t -> folders.containsKey(Component.transformerOf(t)))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Task.class)));
    }

    private static int positive(JsonNode config, String key, int released) {
        int value = config.path(key).asInt(released);
        if (value < 1) {
            throw new BadWeightsException("model config: " + key + " is " + config.path(key) + ", expected a positive integer");
        }
        return value;
    }

    private static int product(JsonNode config, String key, int[] released) {
        int product = 1;
        for (int factor : ints(config, key, released)) {
            product = Math.multiplyExact(product, factor);
        }
        return product;
    }

    private static int[] ints(JsonNode config, String key, int[] released) {
        JsonNode node = config.path(key);
        if (node.isMissingNode()) {
            return released;
        }
        int[] values = new int[node.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = node.get(i).asInt();
            if (values[i] < 1 || values[i] > 1 << 16) {
                throw new BadWeightsException("model config: " + key + " is " + node + ", expected positive integers");
            }
        }
        return values;
    }
}
