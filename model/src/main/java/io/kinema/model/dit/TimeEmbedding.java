package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;

/** The embedding of timesteps in [0, 1]: unscaled sinusoids, then linear, SiLU, linear, SiLU. */
final class TimeEmbedding implements ModulationInput {
    private static final String FIRST = "time_embedder.linear_1";
    private static final String SECOND = "time_embedder.linear_2";
    private static final double LONGEST_PERIOD = 10000;

    private final DitConfig config;
    private final BlockStore<Layers> layers;

    private record Layers(Projection first, Projection second) {
    }

    TimeEmbedding(Parameters p, DitConfig config) {
        this.config = config;
        Projection.require(p, FIRST, config.timeHidden(), config.freqDim());
        Projection.require(p, SECOND, config.timeDim(), config.timeHidden());
        this.layers = BlockStore.onDemand(1, p, (reader, _) -> new Layers(Projection.read(reader, FIRST, config.timeHidden(), config.freqDim()),
                Projection.read(reader, SECOND, config.timeDim(), config.timeHidden())));
    }

    @Override
    public int width() {
        return config.timeDim();
    }

    /** By products of one row. */
    @Override
    public Tensor forward(Execution run, AdaptersInForce adapters, float[] timesteps, Workspace owner, StageTap tap) {
        Workspace scratch = run.scratch();
        int count = timesteps.length;
        Tensor embedded = owner.f32(count, config.timeDim());
        try (Workspace.Frame _ = scratch.frame(); BlockStore.Lease<Layers> lease = layers.acquire(0)) {
            Tensor waves = Execution.upload(run.backend(), scratch, sinusoids(timesteps), count, config.freqDim());
            tap.stage("time_proj", waves);
            Tensor inner = scratch.f32(count, config.timeHidden());
            for (int t = 0; t < count; t++) {
                lease.weights().first().forward(run, adapters, waves.rows(t, t + 1), inner.rows(t, t + 1));
            }
            run.backend().silu(inner, inner);
            for (int t = 0; t < count; t++) {
                lease.weights().second().forward(run, adapters, inner.rows(t, t + 1), embedded.rows(t, t + 1));
            }
        }
        tap.stage("time_embedder", embedded);
        run.backend().silu(embedded, embedded);
        return embedded;
    }

    /** Per timestep: cosines, then sines, of {@code t * 10000^(-i / half)}; an odd last channel is zero. FP32 steps as the reference's. */
    private float[] sinusoids(float[] timesteps) {
        int dim = config.freqDim();
        int half = dim / 2;
        float[] out = new float[timesteps.length * dim];
        for (int i = 0; i < half; i++) {
            float exponent = (float) -Math.log(LONGEST_PERIOD) * i / half;
            float frequency = (float) Math.exp(exponent);
            for (int t = 0; t < timesteps.length; t++) {
                float angle = timesteps[t] * frequency;
                out[t * dim + i] = (float) Math.cos(angle);
                out[t * dim + half + i] = (float) Math.sin(angle);
            }
        }
        return out;
    }
}
