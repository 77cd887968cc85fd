package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.StagingReport;
import java.util.ArrayList;
import java.util.List;

/**
 * The AdaLN projections of all blocks and of the output norm: {@code table = W input + b}, FP32 in every precision
 * plan (it runs once per request and its rounding would bias every step the same way). They are two fifths of a released
 * transformer, so each is on the device only while it is multiplied by. Owned by its {@link Dit}.
 */
final class AdaLayerNorm implements AutoCloseable {
    private static final String OUTPUT = "norm_out.linear";

    private final DitConfig config;
    private final BlockStore<Projection> blocks;
    private final BlockStore<Projection> output;

    /** @param in width of the projections' input */
    AdaLayerNorm(Backend backend, Parameters p, DitConfig config, int in) {
        this.config = config;
        long rows = (long) DitConfig.MODALITIES * Modulation.Part.COUNT * config.hidden();
        for (int i = 0; i < config.layers(); i++) {
            Projection.require(p, name(i), rows, in);
        }
        Projection.require(p, OUTPUT, 2L * config.hidden(), in);
        this.blocks = BlockStore.walkedOnce(backend, config.layers(), p, (reader, i) -> Projection.read(reader, name(i), rows, in));
        this.output = BlockStore.onDemand(1, p, (reader, _) -> Projection.read(reader, OUTPUT, 2L * config.hidden(), in));
    }

    private static String name(int block) {
        return "transformer_blocks." + block + ".adaln_proj.linear";
    }

    /**
     * @param timesteps distinct by bits
     * @param input     FP32 [T, in]
     * @param memory    of the tables, handed over to the result
     */
    Modulation forward(Execution run, AdaptersInForce adapters, float[] timesteps, Tensor input, Workspace memory, StageTap tap) {
        int count = timesteps.length;
        int hidden = config.hidden();
        List<Tensor> tables = new ArrayList<>();
        Tensor last = memory.f32(count, 2L * hidden);
        for (int i = 0; i < config.layers(); i++) {
            Tensor table = memory.f32(count, (long) DitConfig.MODALITIES * Modulation.Part.COUNT * hidden);
            try (BlockStore.Lease<Projection> lease = blocks.acquire(i)) {
                project(run, adapters, lease.weights(), input, table);
            }
            Tensor rows = table.reshape((long) count * DitConfig.MODALITIES, (long) Modulation.Part.COUNT * hidden);
            tap.stage("block" + i + "_adaln", rows.splitLast(Modulation.Part.COUNT, hidden).permute(1, 0, 2));
            tables.add(rows);
        }
        try (BlockStore.Lease<Projection> lease = output.acquire(0)) {
            project(run, adapters, lease.weights(), input, last);
        }
        return new Modulation(memory, adapters, timesteps, tables, last, hidden);
    }

    /** One row at a time: a timestep's bits must not depend on which others are evaluated with it. */
    private static void project(Execution run, AdaptersInForce adapters, Projection projection, Tensor input, Tensor table) {
        for (int t = 0; t < input.size(0); t++) {
            projection.forward(run, adapters, input.rows(t, t + 1), table.rows(t, t + 1));
        }
    }

    /** What bringing the projections took. */
    StagingReport staging() {
        return blocks.report();
    }

    @Override
    public void close() {
        blocks.close();
        output.close();
    }
}
