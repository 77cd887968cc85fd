package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters;
import io.kinema.weights.TensorSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Owns the video VAE's parameters that are not views of the checkpoint, and its scratch memory, on one device or on several ranks, until it is closed;
 * closing twice is harmless. The backends and the checkpoint must outlive it. Used by one thread.
 *
 * <p>The encoder is always FP32. The decoder's matrix products and attention follow a precision plan; its residual rows,
 * norms and pixels are FP32 in every plan. Ranks code a tile each: the bits are those of one rank.
 */
public final class VideoVae implements AutoCloseable {
    private final BackendGroup group;
    private final VideoVaeConfig config;
    private final List<Rank> ranks;

    /** Owns one rank's parameters and scratch memory until it is closed. */
    private record Rank(Backend backend, Workspace parameters, Workspace scratch, Optional<VideoEncoder> encoder, Optional<VitDecoder> decoder)
            implements AutoCloseable {
        static Rank load(Backend backend, TensorSource source, VideoVaeConfig config, Precision precision, Set<AutoencoderPart> parts) {
            Workspace parameters = backend.workspace("video VAE parameters");
            Workspace scratch = backend.workspace("video VAE scratch");
            try {
                Parameters p = new Parameters(backend, source, parameters, "", Parameters.Rounding.AS_STORED);
                return new Rank(backend, parameters, scratch,
                        parts.contains(AutoencoderPart.ENCODER) ? Optional.of(VideoEncoder.load(p, config)) : Optional.empty(),
                        parts.contains(AutoencoderPart.DECODER) ? Optional.of(VitDecoder.load(p, config, precision)) : Optional.empty());
            } catch (RuntimeException e) {
                scratch.close();
                parameters.close();
                throw e;
            }
        }

        @Override
        public void close() {
            scratch.close();
            parameters.close();
        }
    }

    private VideoVae(BackendGroup group, VideoVaeConfig config, List<Rank> ranks) {
        this.group = group;
        this.config = config;
        this.ranks = ranks;
    }

    /** Loads both halves in FP32. @throws io.kinema.weights.BadWeightsException when a tensor is absent or has another shape */
    public static VideoVae open(Backend backend, TensorSource source, VideoVaeConfig config) {
        return open(backend, source, config, Precision.FP32, AutoencoderPart.both());
    }

    /**
     * Loads the wanted halves.
     *
     * @param source    weights in the diffusers layout, any float dtype
     * @param precision plan of the decoder's products
     * @param parts     halves to load; the other cannot be used
     * @throws io.kinema.weights.BadWeightsException when a tensor is absent or has another shape
     */
    public static VideoVae open(Backend backend, TensorSource source, VideoVaeConfig config, Precision precision, Set<AutoencoderPart> parts) {
        return new VideoVae(BackendGroup.alone(backend), config, List.of(Rank.load(backend, source, config, precision, parts)));
    }

    /** The same on every rank of a group: they read one source, which on the host they share. @param group must outlive it */
    public static VideoVae open(BackendGroup group, TensorSource source, VideoVaeConfig config, Precision precision, Set<AutoencoderPart> parts) {
        return group.size() == 1 ? open(group.backends().getFirst(), source, config, precision, parts)
                : new VideoVae(group, config, group.open(member -> Rank.load(member.backend(), source, config, precision, parts)));
    }

    public VideoVaeConfig config() {
        return config;
    }

    /** The most bytes of scratch memory ever in use at once, on all ranks. */
    public long peakScratchBytes() {
        return ranks.stream().mapToLong(rank -> rank.scratch().peakBytes()).sum();
    }

    /**
     * Moments of the posterior of a video or, for a single frame, of a picture.
     *
     * @param frames height and width are multiples of the spatial ratio and at least twice it
     * @param owner  memory of the result
     * @return FP32 [2 * latent channels, {@link ClipTiming#latentFrames}, height / ratio, width / ratio]: mean, then log variance
     * @throws IllegalArgumentException for other sizes
     */
    public Tensor encode(FrameSource frames, CodingOptions options, Workspace owner) {
        if (first().encoder().isEmpty()) {
            throw new IllegalStateException("video encode: the encoder was not loaded");
        }
        requireSide("height", frames.height());
        requireSide("width", frames.width());
        if (frames.count() < 1) {
            throw new IllegalArgumentException("video encode: got " + frames.count() + " frames, expected at least 1");
        }
        int ratio = config.spatialRatio();
        Tensor moments = owner.f32(2L * config.latentChannels(), config.timing().latentFrames(frames.count()),
                frames.height() / ratio, frames.width() / ratio);
        TileGrid grid = TileGrid.cover(frames.height(), frames.width(), options.tiling(), ratio);
        int tiles = config.timing().clips(frames.count()) * grid.count();
        try (TileRounds rounds = rounds(options, tiles, 1, (rank, frame) -> encoderLane(rank, frame, options.tap()))) {
            new ClipEncoder(first().backend(), rounds, config, options, first().scratch(), frames).run(moments);
        }
        return moments;
    }

    /**
     * Decodes latents and hands over frames as soon as they are final, chunk by chunk.
     *
     * @param latents FP32 [latent channels, T, h, w], denormalised; T at least {@link ClipTiming#minimumLatentFrames()}
     * @param sink    gets {@link ClipTiming#frames} frames of (h * ratio) x (w * ratio) pixels
     * @throws IllegalArgumentException for other shapes, naming what was expected
     */
    public void decode(Tensor latents, CodingOptions options, FrameSink sink) {
        if (first().decoder().isEmpty()) {
            throw new IllegalStateException("video decode: the decoder was not loaded");
        }
        if (latents.rank() != 4 || latents.size(0) != config.latentChannels() || latents.size(2) < 1 || latents.size(3) < 1) {
            throw new IllegalArgumentException("video decode: got " + latents + ", expected [" + config.latentChannels() + ", frames, height, width]");
        }
        config.timing().frames(latents.size(1));
        TileGrid grid = ChunkDecoder.grid(config, options, latents);
        int tiles = config.timing().chunks(latents.size(1)) * grid.count();
        try (Workspace input = first().backend().workspace("video latents");
             TileRounds rounds = rounds(options, tiles, tilesTogether(grid, options.tap()), (rank, frame) -> decoderLane(rank, frame, grid, options.tap()))) {
            new ChunkDecoder(first().backend(), rounds, config, options, first().scratch(), onDevice(latents, input)).run(sink);
        }
    }

    /** Tiles that a rank decodes together: as many rows as its backend wishes for. A tap sees one tile after the other. */
    private int tilesTogether(TileGrid grid, StageTap tap) {
        if (tap != StageTap.NONE) {
            return 1;
        }
        int rows = first().decoder().orElseThrow().rows(config.timing().tokensPerClip(), grid.rows().length(), grid.columns().length());
        return TileRounds.tilesTogether(first().backend().rowsTogether(), rows, Math.ceilDiv(grid.count(), ranks.size()));
    }

    /** All of them at once: a copy from the host for every chunk would wait for the device each time. */
    private Tensor onDevice(Tensor latents, Workspace owner) {
        if (latents.device().equals(first().backend().device())) {
            return latents;
        }
        Tensor copy = owner.f32(latents.shape().toArray());
        first().backend().copy(latents, copy);
        return copy;
    }

    private interface LaneMaker {
        TileLane make(Rank rank, Workspace.Frame frame);
    }

    /**
     * A lane on every rank that gets a tile; on the first alone for a tap, which sees one tile after the other.
     *
     * @param tiles    of the whole video
     * @param together most tiles that a rank codes together
     */
    private TileRounds rounds(CodingOptions options, int tiles, int together, LaneMaker maker) {
        int wanted = options.tap() != StageTap.NONE ? 1 : Math.min(ranks.size(), Math.ceilDiv(tiles, together));
        List<Workspace.Frame> frames = new ArrayList<>();
        try {
            List<TileLane> lanes = new ArrayList<>();
            for (Rank rank : ranks.subList(0, wanted)) {
                frames.add(rank.scratch().frame());
                lanes.add(maker.make(rank, frames.getLast()));
            }
            return new TileRounds(group, together, lanes);
        } catch (RuntimeException e) {
            frames.forEach(Workspace.Frame::close);
            throw e;
        }
    }

    private static TileLane encoderLane(Rank rank, Workspace.Frame frame, StageTap tap) {
        VideoEncoder network = rank.encoder().orElseThrow();
        return new TileLane(rank.backend(), rank.scratch(), frame, (ins, outs) -> {
            for (int i = 0; i < ins.size(); i++) {
                network.encode(ins.get(i), rank.scratch(), tap, outs.get(i));
            }
        });
    }

    private TileLane decoderLane(Rank rank, Workspace.Frame frame, TileGrid grid, StageTap tap) {
        VitDecoder network = rank.decoder().orElseThrow();
        Rotary rotary = network.rotary(config.timing().tokensPerClip(), grid.rows().length(), grid.columns().length(), rank.scratch());
        return new TileLane(rank.backend(), rank.scratch(), frame, (ins, outs) -> network.decode(ins, rotary, rank.scratch(), tap, outs));
    }

    private Rank first() {
        return ranks.getFirst();
    }

    /** Decodes everything into one tensor FP32 [channels, frames, height, width] in {@code owner}'s memory. */
    public Tensor decode(Tensor latents, CodingOptions options, Workspace owner) {
        int ratio = config.spatialRatio();
        Tensor video = owner.f32(config.outChannels(), config.timing().frames(latents.size(1)), (long) latents.size(2) * ratio, (long) latents.size(3) * ratio);
        decode(latents, options, (first, frames) -> first().backend().copy(frames, video.slice(1, first, (long) first + frames.size(1))));
        return video;
    }

    private void requireSide(String side, int pixels) {
        int ratio = config.spatialRatio();
        if (pixels < 2 * ratio || pixels % ratio != 0) {
            throw new IllegalArgumentException("video encode: got " + side + " " + pixels + ", expected a multiple of " + ratio
                    + " of at least " + 2 * ratio);
        }
    }

    @Override
    public void close() {
        ranks.forEach(Rank::close);
    }
}
