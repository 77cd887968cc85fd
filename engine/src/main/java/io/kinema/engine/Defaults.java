package io.kinema.engine;

import java.util.ArrayList;
import java.util.List;

/** Which fields of a request and its options were left to a default. */
final class Defaults {
    private Defaults() {
    }

    /** Their names as run records spell them. */
    static List<String> of(GenerateRequest request, EngineOptions options) {
        List<String> names = new ArrayList<>();
        add(names, request.task().isEmpty(), "task");
        add(names, request.width().isEmpty() && request.height().isEmpty(), "width", "height");
        add(names, request.frames().isEmpty() && request.seconds().isEmpty(), "frames");
        add(names, request.steps().isEmpty(), "steps");
        add(names, request.seed().isEmpty(), "seed");
        add(names, request.flowShift().isEmpty(), "flow_shift");
        add(names, request.audioFlowShift().isEmpty(), "audio_flow_shift");
        add(names, options.model().isEmpty(), "model");
        add(names, options.transformer().isEmpty(), "transformer");
        add(names, options.threads().isEmpty(), "threads");
        return names;
    }

    private static void add(List<String> names, boolean left, String... fields) {
        if (left) {
            names.addAll(List.of(fields));
        }
    }
}
