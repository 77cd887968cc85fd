package io.kinema.engine.forecast;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.Task;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.model.WeightEncodings;
import io.kinema.engine.plan.RankRules;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.RankedDit;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
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
 * @param ditBytes     of the transformer, by what can be staged
 * @param textBytes    likewise of the text encoder
 */
record ModelSizes(DitConfig dit, TextEncoderConfig text, VideoVaeConfig video, AudioVaeConfig audio, VisionProcessor processor,
                  Weights ditWeights, Weights textWeights, Weights videoWeights, Weights audioWeights,
                  NetworkBytes ditBytes, NetworkBytes textBytes) {
    /**
     * What a component's files hold.
     *
     * @param bytes     of all tensors as stored
     * @param floats    elements of the tensors of plain floats, which a precision plan may copy; coded ones are decoded on use
     * @param encodings of its matrices
     */
    record Weights(long bytes, long floats, WeightEncodings encodings) {
        /** Reads headers only. @throws io.kinema.weights.BadWeightsException when files are missing, short or broken */
        static Weights of(Supplier<TensorSource> opener) {
            try (TensorSource checkpoint = opener.get()) {
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
     * @param precision plan of transformer and text encoder
     * @param layout    of the transformer's FP16 matrices
     * @param ranks     that will share the transformer
     * @throws io.kinema.weights.BadWeightsException when files are missing, short or broken, do not fit their configs, or cannot be cut for the ranks
     * @throws io.kinema.engine.BadRequestException  when the transformer's heads or channels cannot be shared out evenly
     */
    static ModelSizes read(ModelFolder folder, Task task, Optional<Path> transformer, Optional<WeightLayout> transformerLayout, Precision precision,
                           MatrixLayout layout, int ranks) {
        NetworkFolder text = folder.network(Component.TEXT_ENCODER);
        NetworkFolder video = folder.network(Component.VIDEO_VAE);
        NetworkFolder audio = folder.network(Component.AUDIO_VAE);
        NetworkFolder own = folder.network(Component.transformerOf(task));
        TransformerWeights dit = TransformerWeights.of(own, transformer, transformerLayout).requireFor(task);
        // Opening looks at names and shapes, so what does not fit is refused here as it would be before a run.
        NetworkBytes textBytes = looked(text::open, source -> NetworkBytes.textEncoder(source, precision));
        DitConfig config = DitConfig.read(dit.config());
        RankRules.require(ranks, config);
        NetworkBytes ditBytes = looked(dit::open, source -> {
            RankedDit.requireShares(source, config, ranks);
            return NetworkBytes.transformer(source, precision, layout);
        });
        video.open().close();
        audio.open().close();
        return new ModelSizes(config, TextEncoderConfig.read(text.config()), VideoVaeConfig.read(video.config()),
                AudioVaeConfig.read(audio.config()),
                VisionProcessor.read(folder.configOrEmpty(Component.PROCESSOR, "preprocessor_config.json"),
                        folder.configOrEmpty(Component.PROCESSOR, "video_preprocessor_config.json")),
                Weights.of(dit::stored), Weights.of(text::stored), Weights.of(video::stored), Weights.of(audio::stored), ditBytes, textBytes);
    }

    private static NetworkBytes looked(Supplier<TensorSource> opener, Function<TensorSource, NetworkBytes> look) {
        try (TensorSource source = opener.get()) {
            return look.apply(source);
        }
    }

    /** Bytes of all weights as stored. */
    long weightBytes() {
        return ditWeights.bytes() + textWeights.bytes() + videoWeights.bytes() + audioWeights.bytes();
    }
}
