package io.kinema.engine.forecast;

import io.kinema.engine.Task;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.model.WeightEncodings;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import io.kinema.weights.WeightFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The sizes of the networks that a task runs, from their configs and the headers of their weights.
 *
 * @param dit       of the task's transformer
 * @param text      of the text encoder
 * @param video     of the video VAE
 * @param audio     of the audio VAE
 * @param processor sizes of what the text encoder sees
 * @param ditWeights   of the transformer
 * @param textWeights  of the text encoder
 * @param videoWeights of the video VAE
 * @param audioWeights of the audio VAE
 */
record ModelSizes(DitConfig dit, TextEncoderConfig text, VideoVaeConfig video, AudioVaeConfig audio, VisionProcessor processor,
                  Weights ditWeights, Weights textWeights, Weights videoWeights, Weights audioWeights) {
    /**
     * What a component's files hold.
     *
     * @param bytes     of all tensors as stored
     * @param floats    elements of the tensors of plain floats, which a precision plan may copy; coded ones are decoded on use
     * @param encodings of its matrices
     */
    record Weights(long bytes, long floats, WeightEncodings encodings) {
        /** Reads headers only. @throws io.kinema.weights.BadWeightsException when files are missing, short or broken */
        static Weights of(Path path) {
            try (TensorSource checkpoint = WeightFiles.open(path)) {
                long bytes = 0;
                long floats = 0;
                for (String name : checkpoint.names()) {
                    TensorHeader stored = checkpoint.header(name).orElseThrow();
                    bytes += stored.bytes();
                    floats += stored.dtype().isPresent() ? stored.shape().elements() : 0;
                }
                return new Weights(bytes, floats, WeightEncodings.of(checkpoint));
            }
        }
    }

    /**
     * Reads configs and headers.
     *
     * @param transformer weights used in place of the folder's own
     * @param transformerLayout of those weights, where their names leave it open
     * @throws io.kinema.weights.BadWeightsException when files are missing, short or broken, or do not fit their configs
     */
    static ModelSizes read(ModelFolder folder, Task task, Optional<Path> transformer, Optional<WeightLayout> transformerLayout) {
        NetworkFolder text = folder.network(Component.TEXT_ENCODER);
        NetworkFolder video = folder.network(Component.VIDEO_VAE);
        NetworkFolder audio = folder.network(Component.AUDIO_VAE);
        TransformerWeights dit = TransformerWeights.of(folder.network(Component.transformerOf(task)), transformer, transformerLayout).requireFor(task);
        for (Supplier<TensorSource> opener : List.<Supplier<TensorSource>>of(text::open, dit::open, video::open, audio::open)) {
            // Opening looks at names and shapes, so what does not fit is refused here as it would be before a run.
            opener.get().close();
        }
        return new ModelSizes(DitConfig.read(dit.config()), TextEncoderConfig.read(text.config()), VideoVaeConfig.read(video.config()),
                AudioVaeConfig.read(audio.config()),
                VisionProcessor.read(folder.configOrEmpty(Component.PROCESSOR, "preprocessor_config.json"),
                        folder.configOrEmpty(Component.PROCESSOR, "video_preprocessor_config.json")),
                Weights.of(dit.path()), Weights.of(text.weights()), Weights.of(video.weights()), Weights.of(audio.weights()));
    }

    /** Bytes of all weights as stored. */
    long weightBytes() {
        return ditWeights.bytes() + textWeights.bytes() + videoWeights.bytes() + audioWeights.bytes();
    }
}
