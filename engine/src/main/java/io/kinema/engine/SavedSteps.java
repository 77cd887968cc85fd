package io.kinema.engine;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.engine.pipeline.SamplerState;
import io.kinema.engine.pipeline.StepKeeper;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.SafetensorsWriter;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The sampler's state of one output in the file of a {@link StepSaving}. */
final class SavedSteps implements StepKeeper {
    private static final String SCHEMA = "kinema.steps/1";
    private static final String VIDEO = "video_rows";
    private static final String AUDIO = "audio_rows";

    private final StepSaving saving;
    private final int output;
    private final int steps;
    private final Supplier<String> key;
    private final LatentEstimate estimate;

    /**
     * @param key      what the request, its inputs and the model are, by content; asked when it is needed, for it may take a while
     * @param estimate is saved too, for whoever wants to look; nothing goes on from it
     */
    SavedSteps(StepSaving saving, int output, int steps, Supplier<String> key, LatentEstimate estimate) {
        this.saving = saving;
        this.output = output;
        this.steps = steps;
        this.key = key;
        this.estimate = estimate;
    }

    @Override
    public Optional<SamplerState> restore() {
        if (!Files.isRegularFile(saving.file())) {
            return Optional.empty();
        }
        Optional<SamplerState> state;
        try (SafetensorsFile file = SafetensorsFile.open(saving.file())) {
            state = metadata().equals(withoutTimes(file.metadata())) ? Optional.of(state(file)) : Optional.empty();
        } catch (BadWeightsException | IllegalArgumentException | JsonProcessingException e) {
            // A file of other make or cut short: the output begins at its beginning, which is right too.
            state = Optional.empty();
        }
        state.ifPresent(s -> saving.listener().restored(output, s.step(), steps));
        state.ifPresent(estimate::follow);
        return state;
    }

    @Override
    public void finished(SamplerState state, int of) {
        estimate.follow(state);
        if (state.step() % saving.every() != 0 && state.step() != of) {
            return;
        }
        Map<String, String> metadata = new java.util.TreeMap<>(metadata());
        ArrayNode seconds = JsonNodeFactory.instance.arrayNode();
        state.seconds().forEach(seconds::add);
        metadata.put("seconds", seconds.toString());
        MemoryTensors.Builder builder = MemoryTensors.builder("saved steps").floats(VIDEO, state.video(), state.video().length)
                .floats(AUDIO, state.audio(), state.audio().length);
        List<String> names = new ArrayList<>(List.of(VIDEO, AUDIO));
        estimate.middle().ifPresent(middle -> {
            builder.floats(StepSaving.ESTIMATE, middle, estimate.sizes());
            names.add(StepSaving.ESTIMATE);
        });
        try (MemoryTensors tensors = builder.build()) {
            SafetensorsWriter.write(saving.file(), names.stream().map(tensors::get).toList(), metadata);
        } catch (BadWeightsException full) {
            // Costs time if this attempt fails later, and nothing if it does not.
            return;
        }
        saving.listener().saved(output, state.step(), of);
    }

    private Map<String, String> metadata() {
        return Map.of("schema", SCHEMA, "key", key.get(), "output", Integer.toString(output), "steps", Integer.toString(steps));
    }

    private static Map<String, String> withoutTimes(Map<String, String> metadata) {
        Map<String, String> rest = new java.util.HashMap<>(metadata);
        rest.remove("seconds");
        return rest;
    }

    private static SamplerState state(SafetensorsFile file) throws JsonProcessingException {
        List<Double> seconds = new ArrayList<>();
        for (JsonNode value : new ObjectMapper().readTree(file.metadata().getOrDefault("seconds", "[]"))) {
            seconds.add(value.asDouble());
        }
        return new SamplerState(seconds.size(), FloatConversion.toFloats(file.get(VIDEO)), FloatConversion.toFloats(file.get(AUDIO)), seconds);
    }
}
