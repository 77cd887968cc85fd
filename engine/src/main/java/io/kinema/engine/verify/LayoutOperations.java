package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.layout.Anchor;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.layout.ReferenceBlock;
import io.kinema.engine.layout.Target;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.schedule.RowTimesteps;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/** Packed sequences, row timesteps, frame counts, canvases and patches. Cases state no geometry of a model: it is the released one. */
final class LayoutOperations implements Operations {
    private static final int LATENT_PIXELS = 16;
    private static final int[] PATCH = {1, 2, 2};
    private static final List<String> MORE = List.of("sampled_rows", "row_timestep_plan");

    @Override
    public Map<String, Operation> byName() {
        return Map.of("layout", LayoutOperations::layout, "frame_counts", LayoutOperations::frameCounts,
                "canvas", LayoutOperations::canvas, "patchify", LayoutOperations::patchify);
    }

    /** Sampled rows and timestep plans of a layout stand under the check's name in {@code params}. */
    @Override
    public JsonNode expectedValue(CaseFile file, CaseFile.Check check) {
        JsonNode value = check.value().orElseThrow();
        if (!check.op().equals("layout") || !value.isObject()) {
            return value;
        }
        ObjectNode all = value.deepCopy();
        JsonNode more = file.root().path("params").path(check.label().substring(check.op().length()).strip());
        MORE.stream().filter(key -> more.has(key) && !all.has(key)).forEach(key -> all.set(key, more.get(key)));
        return all;
    }

    private static Answer layout(Question q) {
        Target target = new Target(q.integer("num_latent_frames"), q.integer("height") / LATENT_PIXELS, q.integer("width") / LATENT_PIXELS,
                q.integer("num_audio_latents"));
        int[] tags = textTags(q);
        PackedLayout layout = q.optional("references").isArray()
                ? PackedLayout.ofReferences(tags, target, patch(q), references(q))
                : PackedLayout.ofKeyframes(tags, target, patch(q), anchors(q));
        Answer.Builder answer = new Answer.Builder();
        tensors(layout).forEach(answer::put);
        describe(q, layout, answer.value());
        return answer.build();
    }

    /** The layout as the transformer's arguments are called. */
    static SequencedMap<String, Values> tensors(PackedLayout layout) {
        return new LinkedHashMap<>(Map.of(
                "position_ids", Values.doubles(layout.positions(), layout.rows(), 3),
                "token_tags", vector(layout.tags()),
                "video_indices", vector(layout.videoIndices()),
                "audio_indices", vector(layout.audioIndices()),
                "text_indices", vector(layout.textIndices())));
    }

    private static void describe(Question q, PackedLayout layout, ObjectNode value) {
        value.put("rows", layout.rows());
        value.put("num_condition_video_rows", layout.conditionVideoRows());
        value.put("num_condition_audio_rows", layout.conditionAudioRows());
        ObjectNode counts = value.putObject("counts");
        ObjectNode hashes = value.putObject("sha256");
        tensors(layout).forEach((name, tensor) -> {
            counts.put(name, tensor.shape().dim(0));
            hashes.put(name, Sha256.hex(tensor.littleEndian()));
        });
        JsonNode expected = new LayoutOperations().expectedValue(q.file(), q.check());
        if (expected.has("sampled_rows")) {
            value.set("sampled_rows", sampledRows(layout, expected.get("sampled_rows")));
        }
        if (expected.has("row_timestep_plan")) {
            value.set("row_timestep_plan", plans(layout, expected.get("row_timestep_plan")));
        }
    }

    /** [row, tag, [t, h, w]] of the rows that the case samples. */
    private static ArrayNode sampledRows(PackedLayout layout, JsonNode expected) {
        double[] positions = layout.positions();
        int[] tags = layout.tags();
        ArrayNode list = Answer.JSON.arrayNode();
        for (JsonNode sampled : expected) {
            int row = sampled.path(0).asInt();
            ArrayNode entry = list.addArray().add(row).add(tags[row]);
            ArrayNode position = entry.addArray();
            IntStream.range(0, 3).forEach(axis -> position.add(positions[3 * row + axis]));
        }
        return list;
    }

    /** Distinct timesteps and every row's index, for the steps that the case keeps, on the released shifts. */
    private static ArrayNode plans(PackedLayout layout, JsonNode expected) {
        ArrayNode list = Answer.JSON.arrayNode();
        for (JsonNode wanted : expected) {
            int points = wanted.path("points").asInt();
            int step = wanted.path("step").asInt();
            SigmaGrid video = SigmaGrid.ofPoints(points, SigmaGrid.VIDEO_SHIFT);
            SigmaGrid audio = SigmaGrid.ofPoints(points, SigmaGrid.AUDIO_SHIFT);
            RowTimesteps plan = RowTimesteps.of(layout, video.timestep(step), audio.timestep(step));
            ObjectNode entry = list.addObject().put("points", points).put("step", step);
            ArrayNode distinct = entry.putArray("distinct");
            for (float t : plan.distinct()) {
                distinct.add((double) t);
            }
            entry.put("index_sha256", Sha256.hex(vector(plan.indices()).littleEndian()));
        }
        return list;
    }

    /** Runs of [tag, rows]. */
    private static int[] textTags(Question q) {
        IntStream.Builder tags = IntStream.builder();
        for (JsonNode run : q.argument("text_token_tags_runs")) {
            IntStream.range(0, run.path(1).asInt()).forEach(i -> tags.add(run.path(0).asInt()));
        }
        return tags.build().toArray();
    }

    private static List<Anchor> anchors(Question q) {
        List<Anchor> anchors = new ArrayList<>();
        for (JsonNode name : q.optional("keyframe_anchors")) {
            anchors.add(Arrays.stream(Anchor.values()).filter(a -> a.label().equals(name.asText())).findFirst()
                    .orElseThrow(() -> q.bad("keyframe_anchors", name, "expected first or last")));
        }
        return anchors;
    }

    private static List<ReferenceBlock> references(Question q) {
        List<ReferenceBlock> blocks = new ArrayList<>();
        for (JsonNode r : q.argument("references")) {
            blocks.add(switch (r.path("kind").asText()) {
                case "image" -> new ReferenceBlock.Image(r.path("h").asInt(), r.path("w").asInt());
                case "video" -> new ReferenceBlock.Video(r.path("t").asInt(), r.path("h").asInt(), r.path("w").asInt(), r.path("audio").asInt());
                case "audio" -> new ReferenceBlock.Audio(r.path("audio").asInt());
                default -> throw q.bad("references kind", r.path("kind"), "expected image, video or audio");
            });
        }
        return blocks;
    }

    private static Answer frameCounts(Question q) {
        int frames = q.integer("num_frames");
        int aligned = FrameCounts.RELEASED.align(frames);
        return Answer.of(Answer.JSON.objectNode().put("aligned", aligned)
                .put("video_latents", FrameCounts.RELEASED.videoLatents(aligned))
                .put("audio_latents", FrameCounts.audioLatents(aligned))
                .put("audio_latents_unaligned", FrameCounts.audioLatents(frames)));
    }

    private static Answer canvas(Question q) {
        CanvasRule rule = new CanvasRule(q.integer("multiple"), q.integer("short_edge"), q.longInteger("max_pixels"));
        return Pictures.size(rule.of(q.number("aspect_width"), q.number("aspect_height")));
    }

    private static Answer patchify(Question q) {
        Values latents = q.input("latents");
        int rank = latents.shape().rank();
        LatentShape shape = new LatentShape(latents.shape().size(rank - 4), latents.shape().size(rank - 3), latents.shape().size(rank - 2),
                latents.shape().size(rank - 1));
        Patch patch = patch(q);
        return Answer.of(Values.floats(patch.patchify(latents.toFloats(), shape), patch.rows(shape), patch.rowWidth(shape.channels())));
    }

    private static Patch patch(Question q) {
        int[] sizes = q.optional("patch").isArray() ? q.integers("patch") : PATCH;
        return new Patch(sizes[0], sizes[1], sizes[2]);
    }

    private static Values vector(int[] values) {
        return Values.ints(values, values.length);
    }
}
