package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.TransformerForm;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.MemoryTensors;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Pruned AdaLN: the curve's rule in plain loops, and the whole model against one whose curve has all coordinates. */
class TimeCurveTest {
    private static final Path FOLDER = GoldenCase.bundled().resolve("checkpoint/transformer");
    private static final ObjectNode JSON = (ObjectNode) GoldenCase.json(FOLDER.resolve("config.json"));
    private static final int POINTS = 65;

    private final Backend backend = CpuBackend.open(1);
    private final Checkpoint whole = Checkpoint.open(FOLDER);

    @AfterEach
    void close() {
        whole.close();
        backend.close();
    }

    @Test
    void betweenPointsItIsLinearAndOutsideItIsTheEnd() {
        int rank = 3;
        float[] table = new float[9 * rank];
        Random random = new Random(5);
        for (int i = 0; i < table.length; i++) {
            table[i] = (float) random.nextGaussian();
        }
        float[] times = {0, 1, 0.5f, 0.125f, 0.3f, 0.999f, 0.0277f, 1.5f, -0.2f};
        try (MemoryTensors source = MemoryTensors.builder("curve").floats(DitTensors.CURVE_TABLE, table, 9, rank).build(); Workspace memory = backend.workspace("curve")) {
            TimeCurve curve = new TimeCurve(new Parameters(backend, source, memory, "", Rounding.AS_STORED), new DitConfig.Curve(9, rank));
            float[] got = curve.forward(new Execution(backend, Precision.FP32, memory), AdaptersInForce.NONE, times, memory, StageTap.NONE).toFloats();
            for (int t = 0; t < times.length; t++) {
                double place = Math.min(1, Math.max(0, times[t])) * 8;
                int low = (int) Math.min(7, Math.floor(place));
                for (int k = 0; k < rank; k++) {
                    double expected = table[low * rank + k] * (1 - (place - low)) + table[(low + 1) * rank + k] * (place - low);
                    assertThat((double) got[t * rank + k]).as("t %s", times[t]).isCloseTo(expected, within(1e-6));
                }
            }
        }
    }

    /** With every coordinate kept, only the straight lines between the points are new: at a point there is no difference at all. */
    @Test
    void aCurveOfAllCoordinatesIsTheTimestepMlpAtItsPoints() {
        DitConfig config = DitConfig.read(JSON);
        float[] points = new float[POINTS];
        for (int i = 0; i < POINTS; i++) {
            points[i] = (float) i / (POINTS - 1);
        }
        try (MemoryTensors pruned = pruned(config, points); Dit full = Dit.open(backend, whole, config, Precision.FP32, Rounding.AS_STORED)) {
            ObjectNode json = JSON.deepCopy().put(DitConfig.CURVE_POINTS, POINTS).put(DitConfig.CURVE_RANK, config.timeDim());
            assertThat(Network.TRANSFORMER.stored(WeightLayout.DIFFUSERS, json).misfit(pruned)).isEmpty();
            try (Dit curve = Dit.open(backend, pruned, DitConfig.read(json), Precision.FP32, Rounding.AS_STORED)) {
                float[] atPoints = {0, points[7], 0.5f, 1};
                assertThat(tables(curve, atPoints)).isEqualTo(tables(full, atPoints));
                float[] between = {0.0101f, 0.3333f, 0.9f};
                float[] expected = tables(full, between);
                float[] got = tables(curve, between);
                assertThat(distance(expected, got)).isBetween(1e-9, 0.02);
            }
        }
    }

    @Test
    void aTableOfAnotherWidthThanTheProjectionsIsRefused() {
        DitConfig config = DitConfig.read(JSON);
        try (MemoryTensors pruned = pruned(config, new float[] {0, 1})) {
            ObjectNode json = JSON.deepCopy().put(DitConfig.CURVE_POINTS, 2).put(DitConfig.CURVE_RANK, config.timeDim() - 1);
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> Network.TRANSFORMER.stored(WeightLayout.DIFFUSERS, json).require(pruned))
                    .withMessageContaining("of another shape").withMessageContaining("adaln_t_table is [2, 24], expected [2, 23]");
        }
    }

    @Test
    void aTableBesideTheTimestepMlpIsRefused() {
        DitConfig config = DitConfig.read(JSON);
        MemoryTensors.Builder both = MemoryTensors.builder("both").floats(DitTensors.CURVE_TABLE, new float[2 * config.timeDim()], 2, config.timeDim());
        whole.names().stream().map(whole::get).forEach(t -> both.put(t.name(), t.dtype(), t.data(), t.shape().toArray()));
        try (MemoryTensors source = both.build()) {
            TransformerForm form = TransformerForm.of(source, false, Optional.empty(), Optional.empty());
            assertThat(form.curve()).contains(new DitConfig.Curve(2, config.timeDim()));
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> Network.TRANSFORMER.stored(form.layout(), form.completed(JSON)).require(source))
                    .withMessageContaining("4 not expected (time_embedder.linear_");
        }
    }

    /** An adapter that was trained on whole AdaLN projections does not fit narrow ones. */
    @Test
    void anAdapterOfWholeProjectionsDoesNotFitPrunedOnes() {
        DitConfig pruned = DitConfig.read(JSON).with(Optional.of(new DitConfig.Curve(9, 3)));
        assertThat(DitTensors.forAdapters(pruned).shapes().get("transformer_blocks.0.adaln_proj.linear.weight").toArray()).containsExactly(864, 3);
        assertThat(DitTensors.forAdapters(pruned).shapes()).doesNotContainKey("time_embedder.linear_1.weight");
    }

    private MemoryTensors pruned(DitConfig config, float[] points) {
        MemoryTensors.Builder builder = MemoryTensors.builder("pruned");
        whole.names().stream().filter(n -> !n.startsWith("time_embedder.")).map(whole::get).forEach(t -> builder.put(t.name(), t.dtype(), t.data(), t.shape().toArray()));
        try (Workspace memory = backend.workspace("table")) {
            TimeEmbedding mlp = new TimeEmbedding(new Parameters(backend, whole, memory, "", Rounding.AS_STORED), config);
            float[] table = mlp.forward(new Execution(backend, Precision.FP32, memory), AdaptersInForce.NONE, points, memory, StageTap.NONE).toFloats();
            return builder.floats(DitTensors.CURVE_TABLE, table, points.length, config.timeDim()).build();
        }
    }

    private float[] tables(Dit dit, float[] times) {
        try (Modulation modulation = dit.modulation(times)) {
            float[] all = new float[0];
            for (Tensor part : new Tensor[] {modulation.part(0, Modulation.Part.ATTENTION_GATE), modulation.part(2, Modulation.Part.FEED_FORWARD_SHIFT), modulation.outputScale()}) {
                float[] values = part.toFloats();
                int at = all.length;
                all = Arrays.copyOf(all, at + values.length);
                System.arraycopy(values, 0, all, at, values.length);
            }
            return all;
        }
    }

    private static double distance(float[] expected, float[] got) {
        double error = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            error += (got[i] - expected[i]) * (double) (got[i] - expected[i]);
            norm += expected[i] * (double) expected[i];
        }
        return Math.sqrt(error / norm);
    }
}
