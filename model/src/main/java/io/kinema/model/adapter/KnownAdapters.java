package io.kinema.model.adapter;

import io.kinema.model.adapter.KnownAdapter.Completeness;
import io.kinema.model.adapter.KnownAdapter.Published;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The artefacts that this engine knows, by content and by name. */
final class KnownAdapters {
    private static final double VIDEO_SHIFT = 12;
    private static final double SHIFT_768P = 6;
    private static final double AUDIO_SHIFT = 3;
    private static final List<String> FROM_TEXT_AND_FRAMES = List.of("t2va", "fl2va");
    private static final List<String> FROM_REFERENCES = List.of("ref2va");

    /** LightX2V Turbo: rank 128 on attention and feed-forward; the shift belongs to the resolution it was trained at. */
    private static final List<KnownAdapter> TURBO = List.of(
            turbo("fl2v_turbo_4step_v0.1", 4, VIDEO_SHIFT, 8, new Published(1_383_677_888L, "5ff4a12c", "5b29")),
            turbo("fl2v_turbo_4step_v1.0_768p_bf16", 4, SHIFT_768P, 128, null),
            turbo("fl2v_turbo_4step_v1.1_768p_bf16", 4, SHIFT_768P, 128, null),
            turbo("fl2v_turbo_4step_v1.2_768p_bf16", 4, SHIFT_768P, 8, new Published(1_383_677_808L, "c3d4a2cf", "b689")),
            turbo("fl2v_turbo_8step_v1.0_bf16", 8, VIDEO_SHIFT, 8, new Published(1_383_677_768L, "e16ac208", "807f")),
            turbo("fl2v_turbo_8step_v1.0_768p_bf16", 8, SHIFT_768P, 8, new Published(1_383_677_808L, "9b0efe36", "f6d4")),
            turbo("ref2v_turbo_4step_v0.1_bf16", 4, VIDEO_SHIFT, 8, new Published(1_383_677_768L, "9e642fc8", "ae99")),
            turbo("ref2v_turbo_8step_v1.0_768p_bf16", 8, SHIFT_768P, 8, new Published(-1, "9bac880b", "2dd2")));

    /** Alpha equals the rank; it was trained without one fixed schedule. */
    private static final KnownAdapter LARRYVRH = new KnownAdapter("larryvrh Turbo v4 step600 ema",
            Optional.of(new Published(779_849_816L, "5f3a626c", "16d3")), Optional.of(Alpha.RANK), Optional.empty(), Completeness.BLOCKS_AND_ADALN);

    private KnownAdapters() {
    }

    /** The artefact with this content. */
    static Optional<KnownAdapter> withContent(String sha256) {
        return Stream.concat(TURBO.stream(), Stream.of(LARRYVRH)).filter(k -> k.published().filter(p -> p.is(sha256)).isPresent()).findFirst();
    }

    /** The artefact that is published under this file name. */
    static Optional<KnownAdapter> named(String fileName) {
        return TURBO.stream().filter(k -> fileName.equals(k.name() + ".safetensors")).findFirst();
    }

    /** FastH3, which says so in its metadata. */
    static KnownAdapter fastH3() {
        return new KnownAdapter("FastH3 4-step", Optional.empty(), Optional.of(Alpha.RANK),
                Optional.of(new SamplingContract("FastH3 4-step", List.of("t2va"), List.of(.999, .749, .5, .25, 0.), VIDEO_SHIFT, AUDIO_SHIFT)),
                Completeness.ANY);
    }

    /**
     * The contract that a file states itself, as FlashGen's does.
     *
     * @throws IllegalArgumentException when what it states makes no sense
     */
    static Optional<KnownAdapter> stated(Map<String, String> metadata) {
        if (!metadata.containsKey("base_schedule") || !metadata.containsKey("tasks")) {
            return Optional.empty();
        }
        List<Double> schedule = Arrays.stream(metadata.get("base_schedule").split(",")).map(v -> number("base_schedule", v)).toList();
        List<String> tasks = Arrays.stream(metadata.get("tasks").toLowerCase(Locale.ROOT).split(",")).map(String::strip).toList();
        boolean flashGen = "minimax-h3-native".equals(metadata.get("key_format")) && "grouped".equals(metadata.get("qkv_layout"));
        String name = flashGen ? "FlashGen 4-step" : metadata.getOrDefault("name", "the contract in the file's metadata");
        SamplingContract contract = new SamplingContract(name, tasks, schedule,
                number("video_shift", metadata.getOrDefault("video_shift", "" + VIDEO_SHIFT)),
                number("audio_shift", metadata.getOrDefault("audio_shift", "" + AUDIO_SHIFT)));
        return Optional.of(new KnownAdapter(name, Optional.empty(), Optional.empty(), Optional.of(contract),
                flashGen ? Completeness.BLOCKS_AND_ADALN : Completeness.ANY));
    }

    private static KnownAdapter turbo(String middle, int evaluations, double videoShift, double alpha, Published published) {
        String name = "minimax_h3_" + middle;
        List<String> tasks = middle.startsWith("ref2v") ? FROM_REFERENCES : FROM_TEXT_AND_FRAMES;
        return new KnownAdapter(name, Optional.ofNullable(published), Optional.of(Alpha.of(alpha)),
                Optional.of(new SamplingContract(name, tasks, SamplingContract.uniform(evaluations), videoShift, AUDIO_SHIFT)), Completeness.BLOCKS);
    }

    private static double number(String key, String value) {
        try {
            return Double.parseDouble(value.strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + ": got '" + value + "', expected numbers separated by commas", e);
        }
    }
}
