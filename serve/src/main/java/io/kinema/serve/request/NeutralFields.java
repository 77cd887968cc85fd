package io.kinema.serve.request;

import com.fasterxml.jackson.databind.JsonNode;

/** Fields that other servers know and that have one meaningful value here: accepted with that value, refused with any other. */
final class NeutralFields {
    private NeutralFields() {
    }

    static void check(CallFields fields) {
        one(fields, Field.GUIDANCE_SCALE);
        one(fields, Field.TRUE_CFG_SCALE);
        fields.text(Field.NEGATIVE_PROMPT).ifPresent(text -> {
            if (!text.isBlank()) {
                throw fields.wrong(Field.NEGATIVE_PROMPT, "expected an empty one: the model has no negative prompt");
            }
        });
        fields.flag(Field.VAE_USE_SLICING).ifPresent(slicing -> {
            if (slicing) {
                throw fields.wrong(Field.VAE_USE_SLICING, "expected false");
            }
        });
        fields.flag(Field.VAE_USE_TILING);
        fields.text(Field.QUALITY).ifPresent(quality -> {
            if (!quality.equals("lossless") && !quality.equals("default")) {
                throw fields.wrong(Field.QUALITY, "expected lossless, the only one this server makes");
            }
        });
        fields.value(Field.START_TIMES).ifPresent(times -> {
            for (JsonNode time : times.isArray() ? times : java.util.List.of(times)) {
                if (!time.isNumber() || time.doubleValue() != 0) {
                    throw fields.wrong(Field.START_TIMES, "expected 0 for each video: references are used from their start");
                }
            }
        });
    }

    private static void one(CallFields fields, Field field) {
        fields.number(field).ifPresent(value -> {
            if (value != 1) {
                throw fields.wrong(field, "expected 1: the model is used without guidance");
            }
        });
    }
}
