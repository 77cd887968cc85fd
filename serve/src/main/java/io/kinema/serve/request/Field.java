package io.kinema.serve.request;

import io.kinema.serve.body.FieldKind;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every field of a call. The first name is ours; the others are what other servers of H3 call it. */
public enum Field {
    MODEL(FieldKind.TEXT, "model"),
    PROMPT(FieldKind.TEXT, "prompt"),
    TASK(FieldKind.TEXT, "task"),
    SIZE(FieldKind.TEXT, "size"),
    WIDTH(FieldKind.VALUE, "width"),
    HEIGHT(FieldKind.VALUE, "height"),
    ASPECT_RATIO(FieldKind.TEXT, "aspect_ratio"),
    SHORT_EDGE(FieldKind.VALUE, "short_edge"),
    FPS(FieldKind.VALUE, "fps"),
    FRAMES(FieldKind.VALUE, "frames", "num_frames"),
    SECONDS(FieldKind.VALUE, "seconds", "duration", "duration_seconds"),
    SEED(FieldKind.VALUE, "seed"),
    /** Model evaluations. */
    STEPS(FieldKind.VALUE, "steps"),
    /** Grid points, one more than the evaluations between them, except for adapters that list their evaluations. */
    GRID_POINTS(FieldKind.VALUE, "num_inference_steps"),
    OUTPUTS(FieldKind.VALUE, "outputs", "n", "num_outputs_per_prompt"),
    FLOW_SHIFT(FieldKind.VALUE, "flow_shift"),
    AUDIO_FLOW_SHIFT(FieldKind.VALUE, "audio_flow_shift"),
    NOISE_SCHEME(FieldKind.TEXT, "noise_scheme"),
    STRICT(FieldKind.VALUE, "strict"),
    QUALITY(FieldKind.TEXT, "quality"),
    DRY_RUN(FieldKind.VALUE, "dry_run"),
    ADAPTERS(FieldKind.VALUE, "adapters", "adapter", "lora"),
    ADAPTER_SCALE(FieldKind.VALUE, "adapter_scale", "lora_scale"),

    KEYFRAMES(FieldKind.VALUE, "keyframes"),
    REFERENCES(FieldKind.VALUE, "references"),
    /** MiniMax's scripts: keyframes and references in one list. */
    CONDITIONS(FieldKind.VALUE, "conditions"),
    FIRST_IMAGE(FieldKind.MEDIA, "first_image"),
    LAST_IMAGE(FieldKind.MEDIA, "last_image"),
    INPUT_REFERENCE(FieldKind.MEDIA, "input_reference", "input_references"),
    IMAGE_REFERENCE(FieldKind.MEDIA, "image_reference"),
    VIDEO_REFERENCE(FieldKind.MEDIA, "video_reference"),
    AUDIO_REFERENCE(FieldKind.MEDIA, "audio_reference"),
    /** Paths below the server's root of files. */
    IMAGE(FieldKind.MEDIA, "image"),
    VIDEO(FieldKind.MEDIA, "video"),
    AUDIO(FieldKind.MEDIA, "audio"),
    KEYFRAME_INDICES(FieldKind.VALUE, "keyframe_indices", "frame_indices"),
    START_TIMES(FieldKind.VALUE, "reference_video_start_times", "start_time_seconds"),

    /** MiniMax's scripts: short edge, shape and length of the clip. */
    TARGET(FieldKind.VALUE, "target"),
    /** Other servers: more fields in an object of their own. */
    EXTRA(FieldKind.VALUE, "extra_params", "extra_body"),

    // Fields of other servers that have one meaningful value for this model.
    GUIDANCE_SCALE(FieldKind.VALUE, "guidance_scale"),
    TRUE_CFG_SCALE(FieldKind.VALUE, "true_cfg_scale"),
    NEGATIVE_PROMPT(FieldKind.TEXT, "negative_prompt"),
    VAE_USE_SLICING(FieldKind.VALUE, "vae_use_slicing"),
    VAE_USE_TILING(FieldKind.VALUE, "vae_use_tiling");

    private static final Map<String, Field> BY_NAME = Arrays.stream(values()).flatMap(field -> field.names.stream().map(name -> Map.entry(name, field)))
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private final FieldKind kind;
    private final List<String> names;

    Field(FieldKind kind, String... names) {
        this.kind = kind;
        this.names = List.of(names);
    }

    /** Our own name first. */
    public List<String> names() {
        return names;
    }

    /** Our own name. */
    public String label() {
        return names.getFirst();
    }

    /** The field that goes by this name, or empty. */
    public static Optional<Field> named(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    /** How forms write the field of this name. */
    public static Function<String, FieldKind> kinds() {
        return name -> named(name).map(field -> field.kind).orElse(FieldKind.UNKNOWN);
    }

    /** Every name, in order. */
    static Stream<String> allNames() {
        return Arrays.stream(values()).flatMap(field -> field.names.stream());
    }
}
