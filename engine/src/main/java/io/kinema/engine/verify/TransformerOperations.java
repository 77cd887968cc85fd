package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.Velocities;
import io.kinema.weights.TensorSource;
import java.util.Arrays;
import java.util.Map;

/** One forward pass of the transformer, with or without adapters. */
final class TransformerOperations implements Operations {
    @Override
    public Map<String, Operation> byName() {
        return Map.of("forward", TransformerOperations::forward);
    }

    private static Answer forward(Question q) {
        requireNoAdapters(q);
        Backend backend = q.run().backend();
        RunSettings.Plan plan = q.run().plan(q.check());
        NetworkFolder network = NetworkFolder.read(q.weights());
        DitConfig config = DitConfig.read(network.config());
        DitLayout layout = DitLayout.of(q.input("position_ids").toDoubles(), q.input("token_tags").toInts(), q.input("text_indices").toInts(),
                q.input("video_indices").toInts(), q.input("audio_indices").toInts());
        try (TensorSource source = network.open();
             Dit dit = Dit.open(backend, source, config, plan.precision(), plan.rounding());
             Workspace memory = backend.workspace("verify")) {
            Velocities out = Velocities.allocate(memory, config, layout);
            float[] timesteps = q.input("timestep").toFloats();
            try (DitSequence sequence = dit.prepare(layout, rows(q, "encoder_hidden_states"), q.stages());
                 Modulation modulation = dit.modulation(distinct(timesteps), q.stages())) {
                dit.forward(sequence, modulation, perRow(timesteps, q.input("timestep_indices").toInts()), rows(q, "hidden_states"),
                        rows(q, "audio_hidden_states"), out, q.stages());
            }
            backend.finish();
            return new Answer.Builder().put("video", Values.of(out.video())).put("audio", Values.of(out.audio())).build();
        }
    }

    private static void requireNoAdapters(Question q) {
        JsonNode adapters = q.optional("adapters");
        if (adapters.isArray() && !adapters.isEmpty()) {
            throw new BadRequestException("adapters", adapters.size() + " of them", "adapters are not supported yet");
        }
    }

    /** (1, rows, channels) as (rows, channels). */
    private static Tensor rows(Question q, String input) {
        Values values = q.input(input);
        return values.reshaped(values.count() / values.shape().dim(-1), values.shape().dim(-1)).toTensor();
    }

    private static float[] perRow(float[] timesteps, int[] index) {
        float[] rows = new float[index.length];
        for (int i = 0; i < index.length; i++) {
            rows[i] = timesteps[index[i]];
        }
        return rows;
    }

    /** The engine evaluates modulation once for each distinct timestep; a case may list one twice. */
    private static float[] distinct(float[] timesteps) {
        float[] kept = new float[timesteps.length];
        int n = 0;
        for (float t : timesteps) {
            boolean known = false;
            for (int i = 0; i < n; i++) {
                known |= kept[i] == t;
            }
            if (!known) {
                kept[n++] = t;
            }
        }
        return Arrays.copyOf(kept, n);
    }
}
