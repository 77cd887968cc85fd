package io.kinema.engine.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Builds a layout from the arguments of a golden {@code layout} check. */
public final class GoldenLayouts {
    private static final int PIXELS_PER_LATENT = 16;

    private GoldenLayouts() {
    }

    /** The layout of the arguments. */
    public static PackedLayout build(JsonNode args) {
        Target target = new Target(args.path("num_latent_frames").asInt(), args.path("height").asInt() / PIXELS_PER_LATENT,
                args.path("width").asInt() / PIXELS_PER_LATENT, args.path("num_audio_latents").asInt());
        Patch patch = new Patch(1, 2, 2);
        int[] tags = tags(args.path("text_token_tags_runs"));
        if (args.has("references")) {
            return PackedLayout.ofReferences(tags, target, patch, references(args.path("references")));
        }
        List<Anchor> anchors = new ArrayList<>();
        for (JsonNode anchor : args.path("keyframe_anchors")) {
            anchors.add(Arrays.stream(Anchor.values()).filter(a -> a.label().equals(anchor.asText())).findFirst().orElseThrow());
        }
        return PackedLayout.ofKeyframes(tags, target, patch, anchors);
    }

    /** Cases of odd sizes beside the golden ones, made with the same reference: layouts as hashes, one step's row timesteps each. */
    public static JsonNode oddSizes() throws IOException {
        try (InputStream in = GoldenLayouts.class.getResourceAsStream("odd_sizes.json")) {
            return new ObjectMapper().readTree(in).path("checks");
        }
    }

    private static int[] tags(JsonNode runs) {
        IntStream.Builder tags = IntStream.builder();
        for (JsonNode run : runs) {
            for (int i = 0; i < run.get(1).asInt(); i++) {
                tags.add(run.get(0).asInt());
            }
        }
        return tags.build().toArray();
    }

    private static List<ReferenceBlock> references(JsonNode nodes) {
        List<ReferenceBlock> blocks = new ArrayList<>();
        for (JsonNode n : nodes) {
            blocks.add(switch (n.path("kind").asText()) {
                case "image" -> new ReferenceBlock.Image(n.path("h").asInt(), n.path("w").asInt());
                case "video" -> new ReferenceBlock.Video(n.path("t").asInt(), n.path("h").asInt(), n.path("w").asInt(), n.path("audio").asInt());
                case "audio" -> new ReferenceBlock.Audio(n.path("audio").asInt());
                default -> throw new IllegalArgumentException("reference " + n);
            });
        }
        return blocks;
    }
}
