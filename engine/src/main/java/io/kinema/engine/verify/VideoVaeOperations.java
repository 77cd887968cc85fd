package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.noise.RequestNoise;
import io.kinema.engine.noise.TorchRandom;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.video.CodingOptions;
import io.kinema.model.video.DiagonalPosterior;
import io.kinema.model.video.FrameSource;
import io.kinema.model.video.ImageNetPixels;
import io.kinema.model.video.Tiling;
import io.kinema.model.video.VideoVae;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.Shape;
import io.kinema.weights.TensorSource;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/** The video autoencoder's two halves. */
final class VideoVaeOperations implements Operations {
    private static final int RGB = 3;

    @Override
    public Map<String, Operation> byName() {
        return Map.of("encode", q -> with(q, AutoencoderPart.ENCODER, VideoVaeOperations::encode),
                "decode", q -> with(q, AutoencoderPart.DECODER, VideoVaeOperations::decode));
    }

    /** What is computed with an open network. */
    private interface Use {
        Answer with(Question q, VideoVae vae, Workspace memory);
    }

    private static Answer with(Question q, AutoencoderPart part, Use use) {
        Backend backend = q.run().backend();
        NetworkFolder network = NetworkFolder.read(q.weights());
        VideoVaeConfig config = VideoVaeConfig.read(network.config());
        try (TensorSource source = network.open();
             VideoVae vae = VideoVae.open(q.run().ranks(), source, config, q.run().plan(q.check()).precision(), Set.of(part));
             Workspace memory = backend.workspace("verify")) {
            return use.with(q, vae, memory);
        }
    }

    private static Answer encode(Question q, VideoVae vae, Workspace memory) {
        Values frames = q.input("frames");
        Shape size = frames.shape();
        byte[] pixels = frames.toBytes();
        int picture = size.size(1) * size.size(2) * RGB;
        FrameSource source = ImageNetPixels.source(q.run().backend(), size.size(0), size.size(1), size.size(2),
                i -> Arrays.copyOfRange(pixels, i * picture, (i + 1) * picture));
        Values moments = q.run().values(vae.encode(source, options(q), memory));
        Shape shape = moments.shape();
        int plane = shape.size(1) * shape.size(2) * shape.size(3);
        long[] dims = {1, shape.dim(0) / 2, shape.dim(1), shape.dim(2), shape.dim(3)};
        DiagonalPosterior posterior = DiagonalPosterior.of(moments.toFloats());
        long seed = q.optional("sample_seed").isIntegralNumber() ? q.longInteger("sample_seed") : RequestNoise.POSTERIOR_SEED;
        float[] noise = new TorchRandom(seed).randn(moments.count() / 2);
        return new Answer.Builder().put("moments", moments)
                .put("sample", Values.floats(posterior.sample(noise), dims))
                .put("condition_latents", Values.floats(posterior.conditionLatents(noise, vae.config().statistics(), plane), dims)).build();
    }

    private static Answer decode(Question q, VideoVae vae, Workspace memory) {
        Values latents = q.input("latents");
        int rank = latents.shape().rank();
        Tensor input = latents.reshaped(Arrays.copyOfRange(latents.shape().toArray(), rank - 4, rank)).toTensor();
        Values video = q.run().values(vae.decode(input, options(q), memory));
        Shape shape = video.shape();
        Answer.Builder answer = new Answer.Builder()
                .put("video", video.reshaped(1, shape.dim(0), shape.dim(1), shape.dim(2), shape.dim(3)))
                .put("frames_u8", Values.bytes(bytes(video), shape.dim(1), shape.dim(2), shape.dim(3), shape.dim(0)));
        describe(video, answer.value());
        return answer.build();
    }

    private static void describe(Values video, ObjectNode value) {
        Shape shape = video.shape();
        int frames = shape.size(1);
        int area = shape.size(2) * shape.size(3);
        value.put("output_frames", frames);
        ArrayNode means = value.putArray("frame_means");
        for (int t = 0; t < frames; t++) {
            double sum = 0;
            for (int c = 0; c < shape.size(0); c++) {
                for (int i = 0; i < area; i++) {
                    sum += video.at((c * frames + t) * area + i);
                }
            }
            means.add(sum / (shape.dim(0) * area));
        }
    }

    /** (channel, frame, row, column) values as (frame, row, column, channel) bytes. */
    private static byte[] bytes(Values video) {
        Shape shape = video.shape();
        int channels = shape.size(0);
        int plane = shape.size(1) * shape.size(2) * shape.size(3);
        byte[] out = new byte[video.count()];
        for (int c = 0; c < channels; c++) {
            for (int i = 0; i < plane; i++) {
                out[i * channels + c] = (byte) ImageNetPixels.level((float) video.at(c * plane + i), c);
            }
        }
        return out;
    }

    private static CodingOptions options(Question q) {
        Tiling released = Tiling.RELEASED;
        Tiling tiling = new Tiling(q.optional("tile_min_height").asInt(released.tileHeight()), q.optional("tile_min_width").asInt(released.tileWidth()),
                q.optional("tile_min_overlap_height").asInt(released.overlapHeight()), q.optional("tile_min_overlap_width").asInt(released.overlapWidth()));
        return CodingOptions.RELEASED.withTiling(tiling).withTap(q.stages());
    }
}
