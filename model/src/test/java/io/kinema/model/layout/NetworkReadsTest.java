package io.kinema.model.layout;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.GoldenCase;
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
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Optional;
import java.util.SequencedSet;
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
        check("transformer", Network.TRANSFORMER, (b, s, c) -> Dit.open(b, s, DitConfig.read(c), Precision.FP32, Rounding.AS_STORED));
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
        try (Recording source = new Recording(network.open(Checkpoint.open(folder), WeightLayout.DIFFUSERS, config));
             Backend backend = new ReferenceBackend();
             AutoCloseable opened = reader.open(backend, source, config)) {
            assertThat(opened).isNotNull();
            assertThat(source.read).isEqualTo(listed);
        }
    }

    /** Notes every name that is asked for. */
    private static final class Recording implements TensorSource {
        private final TensorSource source;
        private final Set<String> read = new TreeSet<>();

        Recording(TensorSource source) {
            this.source = source;
        }

        @Override
        public SequencedSet<String> names() {
            return source.names();
        }

        @Override
        public Optional<StoredTensor> find(String name) {
            read.add(name);
            return source.find(name);
        }

        @Override
        public StoredTensor get(String name) {
            read.add(name);
            return source.get(name);
        }

        @Override
        public Shape shape(String name) {
            return source.shape(name);
        }

        @Override
        public StoredTensor rows(String name, long from, long to) {
            read.add(name);
            return source.rows(name, from, to);
        }

        @Override
        public String origin() {
            return source.origin();
        }

        @Override
        public void close() {
            source.close();
        }
    }
}
