package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes latents chunk by chunk. A chunk is decoded together with the latent frames it shares with the next; the frames
 * that both make are cross-faded, so that everything but the shared tail is final as soon as its chunk is decoded. Keeps
 * one chunk of frames and one tail, in memory of the workspace's current frame.
 */
final class ChunkDecoder {
    private final Backend backend;
    private final ClipTiming timing;
    private final CodingOptions options;
    private final Tensor latents;
    private final TileGrid grid;
    private final int ratio;
    private final TileRounds rounds;
    /** One for each tile of a round: a round may reach into the next chunk. */
    private final List<Tensor> clips;
    private final List<Tensor> pixels;
    private final TileStitcher stitcher;
    private final Tensor canvas;
    private final Tensor tail;

    /**
     * @param rounds  lanes that decode tiles of this grid's size
     * @param ws      of the first rank
     * @param latents FP32 [channels, T, h, w], denormalised; T at least the timing's minimum
     */
    ChunkDecoder(Backend backend, TileRounds rounds, VideoVaeConfig config, CodingOptions options, Workspace ws, Tensor latents) {
        this.backend = backend;
        this.rounds = rounds;
        this.options = options;
        this.latents = latents;
        timing = config.timing();
        ratio = config.spatialRatio();
        int height = latents.size(2) * ratio;
        int width = latents.size(3) * ratio;
        grid = grid(config, options, latents);
        TileGrid pixelGrid = TileGrid.cover(height, width, options.tiling(), ratio);
        int tokens = timing.tokensPerClip();
        clips = rounds.tensors(latents.size(0), tokens, latents.size(2), latents.size(3));
        canvas = ws.f32(config.outChannels(), (long) tokens * timing.temporalRatio(), height, width);
        tail = ws.f32(config.outChannels(), timing.frameOverlap(), height, width);
        stitcher = new TileStitcher(backend, ws, pixelGrid, canvas);
        pixels = inPlace() ? List.of(canvas) : rounds.tensors(canvas.size(0), canvas.size(1), pixelGrid.rows().length(), pixelGrid.columns().length());
    }

    /** The tiles of a clip, in latents. */
    static TileGrid grid(VideoVaeConfig config, CodingOptions options, Tensor latents) {
        int ratio = config.spatialRatio();
        return TileGrid.cover(latents.size(2) * ratio, latents.size(3) * ratio, options.tiling(), ratio).dividedBy(ratio);
    }

    /** A tile as large as the clip, decoded by the one rank there is, need not be joined. */
    private boolean inPlace() {
        return grid.count() == 1 && rounds.size() == 1;
    }

    /** One tile of one chunk. */
    private record Unit(int chunk, TileGrid.Tile tile) {
    }

    /** Decodes everything; every chunk's frames go to the sink as soon as its last tile is there. */
    void run(FrameSink sink) {
        int chunks = timing.chunks(latents.size(1));
        int frames = timing.frames(latents.size(1));
        List<TileGrid.Tile> tiles = grid.tiles();
        List<Unit> units = new ArrayList<>();
        for (int chunk = 0; chunk < chunks; chunk++) {
            for (TileGrid.Tile tile : tiles) {
                units.add(new Unit(chunk, tile));
            }
        }
        for (int from = 0; from < units.size(); from += rounds.size()) {
            List<Unit> round = units.subList(from, Math.min(units.size(), from + rounds.size()));
            decode(round, chunks);
            for (int i = 0; i < round.size(); i++) {
                place(round.get(i), pixels.get(i));
                if (round.get(i).tile().index() == tiles.size() - 1) {
                    int chunk = round.get(i).chunk();
                    emit(sink, chunk * timing.clipLength(), frames, blended(chunk > 0));
                }
            }
        }
        emit(sink, chunks * timing.clipLength(), frames, tail);
    }

    /** @param round units of a chunk, or the last of one and the first of the next ones */
    private void decode(List<Unit> round, int chunks) {
        List<TileRounds.Job> jobs = new ArrayList<>();
        for (int i = 0; i < round.size(); i++) {
            Unit unit = round.get(i);
            options.listener().tile(new TileListener.Progress(unit.chunk() + 1, chunks, unit.tile().index() + 1, grid.count()));
            jobs.add(new TileRounds.Job(unit.tile().of(clip(i, round)), pixels.get(i)));
        }
        rounds.run(jobs);
    }

    /** The latents of a unit's chunk, read once for all of a round's tiles of it, and kept from round to round while the chunk stays. */
    private Tensor clip(int i, List<Unit> round) {
        int chunk = round.get(i).chunk();
        Tensor clip = clips.get(chunk % clips.size());
        boolean first = round.get(i).tile().index() == 0;
        if (first) {
            readClip(clip, chunk * timing.tokensPerChunk());
        }
        return clip;
    }

    private void place(Unit unit, Tensor decoded) {
        if (!inPlace()) {
            stitcher.place(unit.tile().times(ratio), decoded);
        }
    }

    private static void emit(FrameSink sink, int first, int total, Tensor ready) {
        int n = Math.min(ready.size(1), total - first);
        if (n > 0) {
            sink.frames(first, ready.slice(1, 0, n));
        }
    }

    /** The chunk's own frames on the canvas, faded in from the last chunk's tail; then keeps this chunk's tail. */
    private Tensor blended(boolean hasTail) {
        int from = timing.framePrePadding();
        int to = timing.tokensPerChunk() * timing.temporalRatio();
        int overlap = timing.frameOverlap();
        if (overlap > 0) {
            if (hasTail) {
                Tensor head = canvas.slice(1, from, from + overlap);
                backend.crossFade(tail, head, 1, head);
            }
            backend.copy(canvas.slice(1, to + from, to + from + overlap), tail);
        }
        return canvas.slice(1, from, to);
    }

    /** Copies the clip's latent frames, repeating the last one past the end. */
    private void readClip(Tensor clip, int first) {
        int n = clip.size(1);
        int have = Math.min(n, latents.size(1) - first);
        backend.copy(latents.slice(1, first, first + have), clip.slice(1, 0, have));
        int last = latents.size(1) - 1;
        for (int t = have; t < n; t++) {
            backend.copy(latents.slice(1, last, last + 1), clip.slice(1, t, t + 1));
        }
    }
}
