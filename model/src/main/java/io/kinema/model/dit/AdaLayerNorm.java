package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;
import java.util.ArrayList;
import java.util.List;

/**
 * The AdaLN projections of all blocks and of the output norm: {@code table = W silu(temb) + b}, FP32 in every precision
 * plan (it runs once per request and its rounding would bias every step the same way). Owned by its {@link Dit}.
 */
final class AdaLayerNorm implements AutoCloseable {
    private final DitConfig config;
    private final BlockStore<Projection> blocks;
    private final Projection output;

    AdaLayerNorm(Parameters p, DitConfig config) {
        this.config = config;
        int parts = DitConfig.MODALITIES * Modulation.Part.COUNT;
        this.blocks = BlockStore.resident(config.layers(), i -> Projection.read(p,
                "transformer_blocks." + i + ".adaln_proj.linear", (long) parts * config.hidden(), config.timeDim()));
        this.output = Projection.read(p, "norm_out.linear", 2L * config.hidden(), config.timeDim());
    }

    /**
     * @param timesteps distinct by bits
     * @param temb      FP32 [T, timeDim]
     * @param memory    of the tables, handed over to the result
     */
    Modulation forward(Execution run, AdaptersInForce adapters, float[] timesteps, Tensor temb, Workspace memory, StageTap tap) {
        int count = timesteps.length;
        int hidden = config.hidden();
        List<Tensor> tables = new ArrayList<>();
        Tensor last = memory.f32(count, 2L * hidden);
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor active = run.scratch().f32(count, config.timeDim());
            run.backend().silu(temb, active);
            for (int i = 0; i < config.layers(); i++) {
                Tensor table = memory.f32(count, (long) DitConfig.MODALITIES * Modulation.Part.COUNT * hidden);
                try (BlockStore.Lease<Projection> lease = blocks.acquire(i)) {
                    project(run, adapters, lease.weights(), active, table);
                }
                Tensor rows = table.reshape((long) count * DitConfig.MODALITIES, (long) Modulation.Part.COUNT * hidden);
                tap.stage("block" + i + "_adaln", rows.splitLast(Modulation.Part.COUNT, hidden).permute(1, 0, 2));
                tables.add(rows);
            }
            project(run, adapters, output, active, last);
        }
        return new Modulation(memory, adapters, timesteps, tables, last, hidden);
    }

    /** One row at a time: a timestep's bits must not depend on which others are evaluated with it. */
    private static void project(Execution run, AdaptersInForce adapters, Projection projection, Tensor active, Tensor table) {
        for (int t = 0; t < active.size(0); t++) {
            projection.forward(run, adapters, active.rows(t, t + 1), table.rows(t, t + 1));
        }
    }

    @Override
    public void close() {
        blocks.close();
    }
}
