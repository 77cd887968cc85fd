package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.load.Parameters;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Projects the text encoder's states to the packed sequence's width and refines them: pre-norm blocks without rotary and
 * AdaLN, then a norm. The projection is FP32 in every plan, because hidden states before a final norm can be large.
 */
final class TokenRefiner {
    private final DitConfig config;
    private final Projection embedder;
    private final List<PreNormBlock.Weights> blocks;
    private final Tensor finalNorm;

    /** @param ranks read a part of the blocks each */
    TokenRefiner(Parameters p, DitConfig config, Communicator ranks) {
        this.config = config;
        this.embedder = Projection.read(p, "context_embedder", config.hidden(), config.textDim());
        this.blocks = IntStream.range(0, config.refinerLayers())
                .mapToObj(i -> BlockWeights.read(p.under(name(i)), config, ranks)).toList();
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
        for (int i = 0; i < blocks.size(); i++) {
            PreNormBlock.forward(run, geometry, config.normEps(), BlockWeights.adapted(blocks.get(i), name(i), adapters), x, Optional.empty());
            run.work().block();
            tap.stage("refiner_block" + i, x);
        }
        run.backend().rmsNorm(x, Optional.of(finalNorm), config.finalNormEps(), x);
        tap.stage("token_refiner", x);
        return x;
    }

    static String name(int block) {
        return "token_refiner.refiner_blocks." + block + ".";
    }
}
