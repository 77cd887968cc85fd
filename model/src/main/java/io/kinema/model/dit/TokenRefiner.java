package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.StagingReport;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import java.util.Optional;

/**
 * Projects the text encoder's states to the packed sequence's width and refines them: pre-norm blocks without rotary and
 * AdaLN, then a norm. Owned by its {@link Dit}. The projection is FP32 in every plan, because hidden states before a final norm can be large.
 */
final class TokenRefiner implements AutoCloseable {
    private final DitConfig config;
    private final Projection embedder;
    private final BlockStore<PreNormBlock.Weights> blocks;
    private final Tensor finalNorm;

    /** @param ranks read a part of the blocks each */
    TokenRefiner(Backend backend, Parameters p, DitConfig config, WeightPlacement placement, Communicator ranks) {
        this.config = config;
        this.embedder = Projection.read(p, "context_embedder", config.hidden(), config.textDim());
        this.blocks = placement.residency() == WeightResidency.COMPONENT
                ? BlockStore.resident(config.refinerLayers(), i -> BlockWeights.read(p.under(name(i)), config, ranks))
                : BlockStore.walkedOnce(backend, config.refinerLayers(), p, (reader, i) -> BlockWeights.read(reader.under(name(i)), config, ranks));
        this.finalNorm = p.f32("token_refiner.final_norm.weight", config.hidden());
    }

    /**
     * @param states FP32 [L, textDim]
     * @param owner  of the result
     * @return FP32 [L, hidden]
     */
    Tensor forward(Execution run, AdaptersInForce adapters, Attention.Geometry geometry, Tensor states, Workspace owner, StageTap tap) {
        Tensor x = owner.f32(states.size(0), config.hidden());
        if (states.size(0) == 0) {
            return x;
        }
        embedder.forward(run, adapters, states, x);
        tap.stage("context_embedder", x);
        for (int i = 0; i < blocks.count(); i++) {
            try (BlockStore.Lease<PreNormBlock.Weights> lease = blocks.acquire(i)) {
                PreNormBlock.forward(run, geometry, config.normEps(), BlockWeights.adapted(lease.weights(), name(i), adapters), x, Optional.empty());
            }
            run.work().block();
            tap.stage("refiner_block" + i, x);
        }
        run.backend().rmsNorm(x, Optional.of(finalNorm), config.finalNormEps(), x);
        tap.stage("token_refiner", x);
        return x;
    }

    /** What bringing the blocks took. */
    StagingReport staging() {
        return blocks.report();
    }

    @Override
    public void close() {
        blocks.close();
    }

    static String name(int block) {
        return "token_refiner.refiner_blocks." + block + ".";
    }
}
