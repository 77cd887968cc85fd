package io.kinema.model.layout;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.RecordingTensors;
import io.kinema.model.audio.AudioVae;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.load.Inventory.Entry;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.text.TextEncoder;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.video.VideoVae;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A network reads exactly the tensors that its inventory lists. */
class NetworkReadsTest {
    /** What a network does with a source. */
    private interface Reader {
        AutoCloseable open(Backend backend, TensorSource source, JsonNode config);
    }

    @Test
    void transformer() throws Exception {
        check("transformer", Network.TRANSFORMER, (b, s, c) -> {
            Dit dit = Dit.open(b, s, DitConfig.read(c), Precision.FP32, Rounding.AS_STORED);
            dit.modulation(new float[] {0.5f}).close();
            return dit;
        });
    }

    @Test
    void videoVae() throws Exception {
        check("vae", Network.VIDEO_VAE, (b, s, c) -> VideoVae.open(b, s, VideoVaeConfig.read(c)));
    }

    @Test
    void audioVae() throws Exception {
        check("audio_vae", Network.AUDIO_VAE, (b, s, c) -> AudioVae.open(b, s, AudioVaeConfig.read(c)));
    }

    @Test
    void textEncoder() throws Exception {
        check("text_encoder", Network.TEXT_ENCODER, (b, s, c) -> TextEncoder.open(b, s, TextEncoderConfig.read(c),
                TextEncoderConfig.CONDITION_LAYER, Precision.FP32, Rounding.AS_STORED));
    }

    private static void check(String component, Network network, Reader reader) throws Exception {
        Path folder = GoldenCase.bundled().resolve("checkpoint").resolve(component);
        JsonNode config = GoldenCase.json(folder.resolve("config.json"));
        Set<String> listed = new TreeSet<>();
        network.inventory(config).entries().stream().filter(e -> e.rule() != Rule.UNREAD).map(Entry::name).forEach(listed::add);
        try (RecordingTensors source = new RecordingTensors(network.open(Checkpoint.open(folder), WeightLayout.DIFFUSERS, config));
             Backend backend = new ReferenceBackend();
             AutoCloseable opened = reader.open(backend, source, config)) {
            assertThat(opened).isNotNull();
            assertThat(source.read()).isEqualTo(listed);
        }
    }
}
