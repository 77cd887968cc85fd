package io.kinema.engine.pipeline;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.prepared.NetworkOpening;
import io.kinema.engine.prepared.NetworkOpening.Form;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.audio.AudioVae;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.text.TextEncoder;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.video.VideoVae;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.TensorSource;
import java.util.EnumSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * How each network is opened to prepare its weights: on the host and all resident, whatever device and residency it will run with. What
 * decides the prepared bytes is stated beside it, and nothing else is.
 */
final class NetworkOpenings {
    private final ModelFolder folder;
    private final Precision precision;
    private final Precision vaePrecision;
    private final MatrixLayout fp16WeightLayout;
    private final int ranks;

    NetworkOpenings(ModelFolder folder, Precision precision, Precision vaePrecision, MatrixLayout fp16WeightLayout, int ranks) {
        this.folder = folder;
        this.precision = precision;
        this.vaePrecision = vaePrecision;
        this.fp16WeightLayout = fp16WeightLayout;
        this.ranks = ranks;
    }

    /** @param shared how many of the ranks share its matrices */
    NetworkOpening textEncoder(Object key, int shared, Supplier<TensorSource> weights) {
        NetworkFolder network = NetworkFolder.read(folder.folder(Component.TEXT_ENCODER));
        TextEncoderConfig config = TextEncoderConfig.read(network.config());
        Map<String, String> facts = facts(network.config(), network.layout(), precision);
        facts.put("layer", "" + TextEncoderConfig.CONDITION_LAYER);
        return new NetworkOpening(key, "text_encoder", network.weights(), weights, facts, form(precision, MatrixLayout.ROW), shared,
                (backend, source, rank) -> TextEncoder.open(backend, source, config, TextEncoderConfig.CONDITION_LAYER, precision, Rounding.of(precision),
                        WeightResidency.COMPONENT, rank));
    }

    NetworkOpening transformer(Object key, TransformerWeights network, Supplier<TensorSource> weights) {
        DitConfig config = DitConfig.read(network.config());
        Map<String, String> facts = facts(network.config(), network.layout(), precision);
        facts.put("fp16_weight_layout", (precision == Precision.FP16_FP32RES ? fp16WeightLayout : MatrixLayout.ROW).label());
        return new NetworkOpening(key, "transformer", network.path(), weights, facts, form(precision, fp16WeightLayout), ranks, (backend, source, rank) -> Dit.open(backend,
                source, config, precision, Rounding.of(precision), fp16WeightLayout, WeightPlacement.RESIDENT, rank));
    }

    NetworkOpening videoVae(Object key, AutoencoderPart half, Supplier<TensorSource> weights) {
        NetworkFolder network = NetworkFolder.read(folder.folder(Component.VIDEO_VAE));
        VideoVaeConfig config = VideoVaeConfig.read(network.config());
        return new NetworkOpening(key, "vae_" + label(half), network.weights(), weights, facts(network.config(), network.layout(), vaePrecision),
                form(vaePrecision, MatrixLayout.ROW), 1, (backend, source, _) -> VideoVae.open(backend, source, config, vaePrecision, EnumSet.of(half)));
    }

    NetworkOpening audioVae(Object key, AutoencoderPart half, Supplier<TensorSource> weights) {
        NetworkFolder network = NetworkFolder.read(folder.folder(Component.AUDIO_VAE));
        AudioVaeConfig config = AudioVaeConfig.read(network.config());
        return new NetworkOpening(key, "audio_vae_" + label(half), network.weights(), weights, facts(network.config(), network.layout(), Precision.FP32),
                new Form(Rounding.AS_STORED, MatrixLayout.ROW, true), 1,
                (backend, source, _) -> AudioVae.open(backend, source, config, EnumSet.of(half)));
    }

    private static Map<String, String> facts(JsonNode config, WeightLayout layout, Precision precision) {
        Map<String, String> facts = new TreeMap<>();
        facts.put("config", config.toString());
        facts.put("layout", layout.name());
        facts.put("precision", precision.label());
        return facts;
    }

    private static Form form(Precision precision, MatrixLayout layout) {
        return new Form(Rounding.of(precision), layout, false);
    }

    private static String label(AutoencoderPart half) {
        return half.name().toLowerCase(java.util.Locale.ROOT);
    }
}
