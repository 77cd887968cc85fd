package io.kinema.engine.verify;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.model.audio.AudioPosterior;
import io.kinema.model.audio.AudioVae;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.weights.TensorSource;
import java.util.Map;

/** The audio autoencoder's two halves and its folded buffers. */
final class AudioVaeOperations implements Operations {
    @Override
    public Map<String, Operation> byName() {
        return Map.of("encode", q -> with(q, AudioVaeOperations::encode), "decode", q -> with(q, AudioVaeOperations::decode),
                "buffers", q -> with(q, AudioVaeOperations::buffers));
    }

    /** What is computed with an open network. */
    private interface Use {
        Answer with(Question q, AudioVae vae, Workspace memory);
    }

    private static Answer with(Question q, Use use) {
        Backend backend = q.run().backend();
        NetworkFolder network = NetworkFolder.read(q.weights());
        AudioVaeConfig config = AudioVaeConfig.read(network.config());
        try (TensorSource source = network.open();
             AudioVae vae = AudioVae.open(backend, source, config);
             Workspace memory = backend.workspace("verify")) {
            return use.with(q, vae, memory);
        }
    }

    private static Answer encode(Question q, AudioVae vae, Workspace memory) {
        Values waveform = q.input("waveform");
        long samples = waveform.shape().dim(-1);
        AudioPosterior posterior = vae.encode(waveform.reshaped(waveform.count() / samples, 1, samples).toTensor(), q.stages(), memory);
        Values mean = q.run().values(posterior.mean());
        return new Answer.Builder().put("mean", mean).put("logs", q.run().values(posterior.logs())).put("condition_rows", rows(mean, vae)).build();
    }

    /** The normalised means (batch, channel, latent) as rows: channel by channel of the sound, latent by latent. */
    private static Values rows(Values mean, AudioVae vae) {
        int latents = mean.shape().size(2);
        int channels = mean.shape().size(1);
        float[] normal = vae.config().statistics().normalise(mean.toFloats(), latents);
        float[] rows = new float[normal.length];
        for (int i = 0; i < rows.length; i++) {
            int c = i % channels;
            int t = i / channels % latents;
            int sound = i / channels / latents;
            rows[i] = normal[(sound * channels + c) * latents + t];
        }
        return Values.floats(rows, mean.shape().dim(0) * latents, channels);
    }

    private static Answer decode(Question q, AudioVae vae, Workspace memory) {
        Tensor waveform = vae.decode(q.input("latents").toTensor(), q.stages(), memory);
        return new Answer.Builder().put("waveform", q.run().values(waveform)).build();
    }

    private static Answer buffers(Question q, AudioVae vae, Workspace memory) {
        Answer.Builder answer = new Answer.Builder();
        q.check().outputs().forEach(o -> vae.buffer(o.name()).ifPresent(buffer -> answer.put(o.name(), q.run().values(buffer))));
        return answer.build();
    }
}
