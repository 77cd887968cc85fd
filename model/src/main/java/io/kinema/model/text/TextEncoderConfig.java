package io.kinema.model.text;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.load.ConfigFields;

/**
 * Sizes and constants of the Qwen3-VL text encoder, from {@code text_encoder/config.json}.
 *
 * @param imageToken id of the token that stands for one token of a picture
 * @param videoToken id of the token that stands for one token of a video
 */
public record TextEncoderConfig(TextConfig text, VisionConfig vision, int imageToken, int videoToken) {
    /** The layer whose output conditions H3, counted from 1; later layers are never run. */
    public static final int CONDITION_LAYER = 50;

    /** @throws io.kinema.weights.BadWeightsException when a field is missing, of the wrong kind or out of range */
    public static TextEncoderConfig read(JsonNode json) {
        ConfigFields f = new ConfigFields("text encoder", json);
        f.only("model_type", "qwen3_vl");
        TextConfig text = TextConfig.read(f.object("text_config"));
        VisionConfig vision = VisionConfig.read(f.object("vision_config"), text.hidden());
        int last = text.vocabulary() - 1;
        return new TextEncoderConfig(text, vision, f.integer("image_token_id", 0, last), f.integer("video_token_id", 0, last));
    }
}
