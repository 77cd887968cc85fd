package io.kinema.model.text;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.layer.RotaryTable;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.work.WorkCounter;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.TensorSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Owns the Qwen3-VL text encoder's device memory until it is closed: token ids, pictures and videos to the hidden states
 * after a chosen decoder layer, before any final norm. Layers beyond that one, the final norm and the language-model head
 * are never loaded. The residual stream is FP32 in every precision plan. Closing twice is harmless; the source must outlive
 * it. Used by one thread.
 */
public final class TextEncoder implements PromptEncoder {
    private final Execution run;
    private final TextEncoderConfig config;
    private final Attention.Geometry geometry;
    private final Workspace weights;
    private final Tensor embeddings;
    private final BlockStore<PreNormBlock.Weights> layers;
    private final VisionTower vision;

    private TextEncoder(Execution run, TextEncoderConfig config, int layer, Parameters p, WeightResidency residency) {
        TextConfig text = config.text();
        Parameters language = p.under("model.language_model.");
        this.run = run;
        this.config = config;
        this.geometry = new Attention.Geometry(text.heads(), text.kvHeads(), text.headDim(), text.normEps(), true).share(run.ranks());
        this.weights = p.owner();
        this.embeddings = language.stored("embed_tokens.weight", text.vocabulary(), text.hidden());
        this.layers = BlockStore.of(WeightPlacement.of(residency), run.backend(), layer, language, (reader, i) -> TextLayers.read(reader.under("layers." + i + "."), text, run.ranks()));
        this.vision = new VisionTower(run, config.vision(), p.under("model.visual."));
    }

    /** {@link #open(Backend, TensorSource, TextEncoderConfig, int, Precision, Rounding, WeightResidency)} with all layers resident. */
    public static TextEncoder open(Backend backend, TensorSource source, TextEncoderConfig config, int layer, Precision precision, Rounding rounding) {
        return open(backend, source, config, layer, precision, rounding, WeightResidency.COMPONENT);
    }

    /**
     * @param source tensors with the names of the released checkpoint
     * @param layer  how many decoder layers to run; the result is the raw output of the last of them
     * @param residency of the layers
     * @throws BadWeightsException when the checkpoint has fewer layers, or a tensor is missing or does not fit the config
     */
    public static TextEncoder open(Backend backend, TensorSource source, TextEncoderConfig config, int layer, Precision precision, Rounding rounding,
                                   WeightResidency residency) {
        return open(backend, source, config, layer, precision, rounding, residency, Communicator.ALONE);
    }

    /**
     * One rank's encoder among several: it runs its share of the language layers' heads and channels and all of the vision tower. All ranks call the same
     * methods with the same values and end with the same bits.
     *
     * @param ranks this rank's end of its group, on the thread that opens and uses this
     * @throws IllegalArgumentException when heads or channels cannot be shared out evenly
     */
    public static TextEncoder open(Backend backend, TensorSource source, TextEncoderConfig config, int layer, Precision precision, Rounding rounding,
                                   WeightResidency residency, Communicator ranks) {
        if (layer < 1 || layer > config.text().layers()) {
            throw new BadWeightsException(source.origin() + ": got a text encoder of " + config.text().layers() + " layers, expected at least "
                    + Math.max(1, layer) + ": the hidden state after layer " + layer + " conditions the model");
        }
        Workspace owner = backend.workspace("text encoder weights");
        Execution run = new Execution(backend, precision, backend.workspace("text encoder scratch"), new WorkCounter(), ranks);
        try {
            return new TextEncoder(run, config, layer, new Parameters(backend, source, owner, "", rounding), residency);
        } catch (RuntimeException e) {
            run.scratch().close();
            owner.close();
            throw e;
        }
    }

    @Override
    public TextEncoderConfig config() {
        return config;
    }

    @Override
    public long peakScratchBytes() {
        return run.scratch().peakBytes();
    }

    @Override
    public Tensor encode(TextEncoderInput input, Workspace owner, StageTap tap) {
        int[] ids = input.ids();
        requireIds(ids);
        RopePositions positions = RopePositions.of(config, input);
        Tensor x = owner.f32(ids.length, config.text().hidden());
        try (Workspace.Frame _ = run.scratch().frame()) {
            run.backend().gatherRows(embeddings, Execution.upload(run.backend(), run.scratch(), ids), x);
            Optional<VisionTokens> tokens = visionTokens(input, ids, tap);
            tokens.ifPresent(t -> run.backend().scatterRows(t.merged(), t.index(), x));
            tapInputs(positions, tokens, ids, tap);
            tap.stage("hidden_states_0", x);
            decode(x, rotary(positions), tokens, tap);
        }
        return x;
    }

    private void decode(Tensor x, Rotary rotary, Optional<VisionTokens> tokens, StageTap tap) {
        for (int i = 0; i < layers.count(); i++) {
            try (BlockStore.Lease<PreNormBlock.Weights> lease = layers.acquire(i)) {
                PreNormBlock.forward(run, geometry, config.text().normEps(), lease.weights(), x, Optional.of(rotary));
            }
            tap.stage("hidden_states_" + (i + 1), x);
            // A hidden state is read before the deepstack addition that follows its layer.
            if (i + 1 < layers.count() && tokens.isPresent() && i < tokens.get().deepstack().size()) {
                addDeepstack(x, tokens.get(), i);
            }
        }
    }

    private void addDeepstack(Tensor x, VisionTokens tokens, int level) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor rows = run.scratch().f32(tokens.merged().shape().toArray());
            run.backend().gatherRows(x, tokens.index(), rows);
            run.backend().add(rows, tokens.deepstack().get(level), rows);
            run.backend().scatterRows(rows, tokens.index(), x);
        }
    }

    /** Pictures first, then videos: the reference calls its vision tower in that order. */
    private Optional<VisionTokens> visionTokens(TextEncoderInput input, int[] ids, StageTap tap) {
        List<VisionTokens.Kind> kinds = new ArrayList<>();
        input.images().ifPresent(seen -> kinds.add(look(seen, rowsOf(config.imageToken(), ids), kinds.size(), tap)));
        input.videos().ifPresent(seen -> kinds.add(look(seen, rowsOf(config.videoToken(), ids), kinds.size(), tap)));
        return kinds.isEmpty() ? Optional.empty() : Optional.of(VisionTokens.join(run.backend(), run.scratch(), kinds));
    }

    private VisionTokens.Kind look(VisionInput input, int[] rows, int call, StageTap tap) {
        return new VisionTokens.Kind(rows, vision.forward(input, run.scratch(), "call" + call + "_", tap));
    }

    private static int[] rowsOf(int token, int[] ids) {
        return IntStream.range(0, ids.length).filter(i -> ids[i] == token).toArray();
    }

    private Rotary rotary(RopePositions positions) {
        TextConfig text = config.text();
        float[] frequencies = RotaryTable.inverseFrequencies(text.ropeTheta(), text.headDim());
        int[] axis = IntStream.range(0, frequencies.length).map(text::axisOf).toArray();
        return RotaryTable.build(run.backend(), run.scratch(), positions.length(), frequencies, (row, pair) -> positions.at(axis[pair], row));
    }

    private void tapInputs(RopePositions positions, Optional<VisionTokens> tokens, int[] ids, StageTap tap) {
        if (tokens.isPresent() && tap.wants("position_ids")) {
            tap.stage("position_ids", positions.toTensor());
            tap.stage("visual_pos_masks", Tensor.ofInts(
                    Arrays.stream(ids).map(id -> id == config.imageToken() || id == config.videoToken() ? 1 : 0).toArray(), ids.length));
            for (int i = 0; i < tokens.get().deepstack().size(); i++) {
                tap.stage("deepstack_" + i, tokens.get().deepstack().get(i));
            }
        }
    }

    private void requireIds(int[] ids) {
        if (ids.length == 0) {
            throw new IllegalArgumentException("text encoder: got no tokens, expected at least one");
        }
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] < 0 || ids[i] >= config.text().vocabulary()) {
                throw new IllegalArgumentException("text encoder token " + i + ": got id " + ids[i] + ", expected 0 to " + (config.text().vocabulary() - 1)
                        + "; the tokenizer and the text encoder do not belong together");
            }
        }
    }

    /** Frees weights' copies and scratch memory. */
    @Override
    public void close() {
        layers.close();
        vision.close();
        run.scratch().close();
        weights.close();
    }
}
