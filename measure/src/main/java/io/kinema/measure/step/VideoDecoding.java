package io.kinema.measure.step;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.video.CodingOptions;
import io.kinema.model.video.RgbFrameSink;
import io.kinema.model.video.VideoVae;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.TensorSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.zip.CRC32C;

/**
 * Measures decoding random latents to bytes on the host.
 *
 * @param config       the video VAE
 * @param precision    plan of the decoder's products
 * @param clip         sizes of the decoded clip
 * @param runs         timed decodings after the first, which makes plans; at least 1
 * @param rowsTogether rows of several tiles to decode together, in place of the backend's own wish
 */
public record VideoDecoding(VideoVaeConfig config, Precision precision, Clip clip, int runs, OptionalLong rowsTogether) {
    private static final long SEED = 7;

    /** Sizes of a clip in latents: frames, rows, columns. */
    public record Clip(int frames, int height, int width) {
        /** 124 frames of 1280 x 736. */
        public static final Clip PRIMARY = new Clip(37, 46, 80);
    }

    /**
     * One decoding.
     *
     * @param seconds     from the first operation to the last picture's bytes on the host
     * @param lastSeconds of them after everything was enqueued: the last frames, and what the device lagged behind
     */
    public record Run(double seconds, double lastSeconds) {
    }

    /**
     * @param loadSeconds weights made or read, brought to the device and rounded
     * @param first       the decoding that chooses everything that is chosen once
     * @param runs        timed decodings
     * @param table       of one chunk, operation by operation, in seconds on the device
     * @param checksum    CRC-32C of all pictures
     * @param repeats     every run gave the bytes of the first
     * @param oneByOne    one chunk decoded tile by tile gave the bytes of the chunk whose tiles were decoded together
     */
    public record Result(double loadSeconds, Run first, List<Run> runs, DecodingWork work, List<OperationTimes.Line> table, long checksum,
                         boolean repeats, boolean oneByOne) {
        /** The middle one of the timed decodings. */
        public Run median() {
            return runs.stream().sorted((a, b) -> Double.compare(a.seconds(), b.seconds())).toList().get(runs.size() / 2);
        }
    }

    /** Runs it. The backend and the weights stay open. */
    public Result measure(Backend backend, TensorSource weights) {
        long start = System.nanoTime();
        Backend own = rowsTogether.isPresent() ? together(backend, rowsTogether.getAsLong()) : backend;
        Tensor latents = latents(clip.frames());
        Tensor chunk = latents(Math.min(clip.frames(), config.timing().minimumLatentFrames()));
        try (VideoVae vae = open(own, weights)) {
            backend.finish();
            double load = (System.nanoTime() - start) / 1e9;
            CRC32C bytes = new CRC32C();
            Run first = decode(own, vae, latents, bytes);
            List<Run> timed = new ArrayList<>();
            boolean repeats = true;
            for (int i = 0; i < runs; i++) {
                CRC32C again = new CRC32C();
                timed.add(decode(own, vae, latents, again));
                repeats &= again.getValue() == bytes.getValue();
            }
            CRC32C grouped = new CRC32C();
            decode(own, vae, chunk, grouped);
            DecodingWork work = DecodingWork.of(config, clip.frames(), clip.height() * config.spatialRatio(), clip.width() * config.spatialRatio());
            vae.close();
            return new Result(load, first, timed, work, table(own, weights, chunk), bytes.getValue(), repeats,
                    grouped.getValue() == alone(backend, weights, chunk));
        }
    }

    private VideoVae open(Backend backend, TensorSource weights) {
        return VideoVae.open(backend, weights, config, precision, EnumSet.of(AutoencoderPart.DECODER));
    }

    private static Run decode(Backend backend, VideoVae vae, Tensor latents, CRC32C bytes) {
        long begin = System.nanoTime();
        try (RgbFrameSink pictures = new RgbFrameSink(backend, (index, rgb) -> bytes.update(rgb))) {
            vae.decode(latents, CodingOptions.RELEASED, pictures);
            long enqueued = System.nanoTime();
            pictures.finish();
            return new Run((System.nanoTime() - begin) / 1e9, (System.nanoTime() - enqueued) / 1e9);
        }
    }

    private List<OperationTimes.Line> table(Backend backend, TensorSource weights, Tensor chunk) {
        try (OperationTimes times = new OperationTimes()) {
            Backend watched = times.watch(backend);
            try (VideoVae vae = open(watched, weights)) {
                times.close();
                decode(watched, vae, chunk, new CRC32C());
                return times.table();
            }
        }
    }

    private long alone(Backend backend, TensorSource weights, Tensor chunk) {
        CRC32C bytes = new CRC32C();
        Backend single = together(backend, 0);
        try (VideoVae vae = open(single, weights)) {
            decode(single, vae, chunk, bytes);
        }
        return bytes.getValue();
    }

    /** The same backend with another wish. */
    private static Backend together(Backend backend, long rows) {
        return (Backend) Proxy.newProxyInstance(VideoDecoding.class.getClassLoader(), new Class<?>[] {Backend.class}, (_, method, arguments) -> {
            if (method.getName().equals("rowsTogether")) {
                return rows;
            }
            try {
                return method.invoke(backend, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private Tensor latents(int frames) {
        Random random = new Random(SEED);
        float[] values = new float[config.latentChannels() * frames * clip.height() * clip.width()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(values, config.latentChannels(), frames, clip.height(), clip.width());
    }
}
