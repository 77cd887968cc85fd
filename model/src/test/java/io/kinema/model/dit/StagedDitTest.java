package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.StagingReport;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.HeldTensors;
import io.kinema.weights.TensorSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StagedDitTest {
    private record Evaluated(float[] video, float[] audio, float[] firstNorm, StagingReport staging) {
    }

    private static Evaluated evaluate(Backend backend, TensorSource source, Precision precision, MatrixLayout layout, WeightPlacement placement) {
        try (Dit dit = Dit.open(backend, source, RankedSample.CONFIG, precision, Rounding.of(precision), layout, placement, Communicator.ALONE);
             Workspace memory = backend.workspace("test")) {
            DitInputs inputs = RankedSample.plain(3, 8, 4);
            Velocities out = dit.evaluate(inputs, memory, StageTap.NONE);
            out = dit.evaluate(inputs, memory, StageTap.NONE);
            return new Evaluated(out.video().toFloats(), out.audio().toFloats(), dit.firstNorm().toFloats(), dit.staging());
        }
    }

    @ParameterizedTest
    @EnumSource(RankedSample.Weights.class)
    void anyPlacementGivesTheSameBits(RankedSample.Weights weights) {
        try (Backend backend = CpuBackend.open(2); TensorSource source = weights.make()) {
            for (Precision precision : Precision.values()) {
                MatrixLayout layout = precision == Precision.FP16_FP32RES ? MatrixLayout.COLUMN : MatrixLayout.ROW;
                Evaluated kept = evaluate(backend, source, precision, layout, WeightPlacement.RESIDENT);
                for (int resident = 0; resident <= RankedSample.CONFIG.layers(); resident++) {
                    Evaluated staged = evaluate(backend, source, precision, layout, new WeightPlacement(WeightResidency.LAYER, resident));
                    assertThat(staged.video()).as("%s %s, %d resident", weights, precision, resident).containsExactly(kept.video());
                    assertThat(staged.audio()).containsExactly(kept.audio());
                    assertThat(staged.staging().residentBlocks()).isEqualTo(resident);
                }
            }
        }
    }

    /** A cache compares the first block's input from step to step, without the block. */
    @Test
    void theFirstNormStaysWhateverBecomesOfTheBlocks() {
        try (Backend backend = CpuBackend.open(1); TensorSource source = RankedSample.Weights.ORIGINAL.make()) {
            Evaluated staged = evaluate(backend, source, Precision.BF16_FP32RES, MatrixLayout.ROW, WeightPlacement.of(WeightResidency.LAYER));
            assertThat(staged.firstNorm()).containsExactly(FloatConversion.toFloats(source.get("transformer_blocks.0.norm1.weight")));
        }
    }

    @Test
    void transformersShareHeldWeightsAndOneOutlivesTheOther() {
        try (Backend backend = CpuBackend.open(1); HeldTensors held = HeldTensors.of(RankedSample.Weights.ORIGINAL.make(), HeldTensors.Memory.PAGEABLE)) {
            List<WeightPlacement> both = List.of(WeightPlacement.RESIDENT, WeightPlacement.of(WeightResidency.LAYER));
            Evaluated first = evaluate(backend, held, Precision.FP32, MatrixLayout.ROW, both.getFirst());
            long bytes = held.heldBytes();
            Evaluated second = evaluate(backend, held, Precision.FP32, MatrixLayout.ROW, both.getLast());
            assertThat(second.video()).containsExactly(first.video());
            assertThat(held.heldBytes()).as("nothing is copied twice").isEqualTo(bytes);
        }
    }
}
