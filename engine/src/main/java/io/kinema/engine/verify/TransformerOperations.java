package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.RankOptions;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.pipeline.AdapterStack;
import io.kinema.engine.plan.RankRules;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.Alpha;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.RankedDit;
import io.kinema.model.dit.ScaledAdapter;
import io.kinema.model.dit.Transformer;
import io.kinema.model.dit.Velocities;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.TensorSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One forward pass of the transformer, with or without adapters. */
final class TransformerOperations implements Operations {
    @Override
    public Map<String, Operation> byName() {
        return Map.of("forward", TransformerOperations::forward);
    }

    private static Answer forward(Question q) {
        Backend backend = q.run().backend();
        NetworkFolder network = NetworkFolder.read(q.weights());
        DitConfig config = DitConfig.read(network.config());
        DitLayout layout = DitLayout.of(q.input("position_ids").toDoubles(), q.input("token_tags").toInts(), q.input("text_indices").toInts(),
                q.input("video_indices").toInts(), q.input("audio_indices").toInts());
        try (TensorSource source = network.open();
             AdapterStack adapters = new AdapterStack();
             Transformer dit = open(q, source, config);
             Workspace memory = backend.workspace("verify")) {
            use(q, dit, adapters);
            Velocities out = Velocities.allocate(memory, config, layout);
            float[] timesteps = q.input("timestep").toFloats();
            try (DitSequence sequence = dit.prepare(layout, rows(q, "encoder_hidden_states"), q.stages());
                 Modulation modulation = dit.modulation(distinct(timesteps), q.stages())) {
                dit.forward(sequence, modulation, perRow(timesteps, q.input("timestep_indices").toInts()), rows(q, "hidden_states"),
                        rows(q, "audio_hidden_states"), out, q.stages());
            }
            backend.finish();
            return new Answer.Builder().put("video", q.run().values(out.video())).put("audio", q.run().values(out.audio())).build();
        }
    }

    private static Transformer open(Question q, TensorSource source, DitConfig config) {
        RunSettings.Plan plan = q.run().plan(q.check());
        RankOptions ranks = q.run().options().ranks();
        RankRules.require(ranks.tensorParallel(), config);
        return ranks.tensorParallel() == 1 ? Dit.open(q.run().backend(), source, config, plan.precision(), plan.rounding())
                : RankedDit.open(q.run().ranks(), source, config, plan.precision(), plan.rounding(), MatrixLayout.ROW,
                        WeightPlacement.of(WeightResidency.COMPONENT), ranks.residual().sharding());
    }

    /** The case's adapters in use. The reference scales a file without alpha by 1. */
    private static void use(Question q, Transformer dit, AdapterStack adapters) {
        List<ScaledAdapter> chosen = new ArrayList<>();
        for (JsonNode node : q.optional("adapters")) {
            if (!node.path("file").isTextual() || !node.path("weight").isNumber()) {
                throw q.bad("adapters", node, "expected a file and a weight");
            }
            Adapter adapter = adapters.open(q.files().file(node.path("file").asText()), DitTensors.forAdapters(dit.config()), Optional.of(Alpha.RANK));
            chosen.add(new ScaledAdapter(adapters.load(dit, adapter), node.path("weight").asDouble()));
        }
        dit.use(chosen);
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
