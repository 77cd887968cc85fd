package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Decodes latents chunk by chunk. A chunk is decoded together with the latent frames it shares with the next; the frames
 * that both make are cross-faded, so that everything but the shared tail is final as soon as its chunk is decoded. Keeps
 * one chunk of frames and one tail, in memory of the workspace's current frame.
 */
final class ChunkDecoder {
    private final Backend backend;
    private final VitDecoder network;
    private final ClipTiming timing;
    private final CodingOptions options;
    private final Workspace ws;
    private final Tensor latents;
    private final TileGrid grid;
    private final TileGrid pixelGrid;
    private final int ratio;
    private final Rotary rotary;
    private final Tensor clip;
    private final Tensor canvas;
    private final Tensor tail;
    private final int together;

    /** @param latents FP32 [channels, T, h, w], denormalised; T at least the timing's minimum */
    ChunkDecoder(Backend backend, VitDecoder network, VideoVaeConfig config, CodingOptions options, Workspace ws, Tensor latents) {
        this.backend = backend;
        this.network = network;
        this.options = options;
        this.ws = ws;
        this.latents = latents;
        timing = config.timing();
        ratio = config.spatialRatio();
        int height = latents.size(2) * ratio;
        int width = latents.size(3) * ratio;
        pixelGrid = TileGrid.cover(height, width, options.tiling(), ratio);
        grid = pixelGrid.dividedBy(ratio);
        int tokens = timing.tokensPerClip();
        rotary = network.rotary(tokens, grid.rows().length(), grid.columns().length(), ws);
        clip = ws.f32(latents.size(0), tokens, latents.size(2), latents.size(3));
        canvas = ws.f32(config.outChannels(), (long) tokens * timing.temporalRatio(), height, width);
        tail = ws.f32(config.outChannels(), timing.frameOverlap(), height, width);
        // A tap sees one tile after the other.
        together = options.tap() == StageTap.NONE
                ? tilesTogether(backend.rowsTogether(), network.rows(tokens, grid.rows().length(), grid.columns().length()), grid.count()) : 1;
    }

    /** How many of {@code tiles} to decode together so that about {@code rows} rows are: evenly, at least one. */
    static int tilesTogether(long rows, int rowsOfTile, int tiles) {
        int most = (int) Math.clamp(Math.round((double) rows / rowsOfTile), 1, tiles);
        return Math.ceilDiv(tiles, Math.ceilDiv(tiles, most));
    }

    /** Decodes everything; every chunk's frames go to the sink before the next is begun. */
    void run(FrameSink sink) {
        int chunks = timing.chunks(latents.size(1));
        int frames = timing.frames(latents.size(1));
        for (int i = 0; i < chunks; i++) {
            decodeClip(i, chunks);
            emit(sink, i * timing.clipLength(), frames, blended(i > 0));
        }
        emit(sink, chunks * timing.clipLength(), frames, tail);
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

    private void decodeClip(int chunk, int chunks) {
        readClip(chunk * timing.tokensPerChunk());
        if (grid.count() == 1) {
            options.listener().tile(new TileListener.Progress(chunk + 1, chunks, 1, 1));
            network.decode(List.of(clip), rotary, ws, options.tap(), List.of(canvas));
            return;
        }
        try (Workspace.Frame frame = ws.frame()) {
            TileStitcher stitcher = new TileStitcher(backend, ws, pixelGrid, canvas);
            Tensor pixels = ws.f32(together, canvas.size(0), canvas.size(1), pixelGrid.rows().length(), pixelGrid.columns().length());
            List<TileGrid.Tile> tiles = grid.tiles();
            for (int from = 0; from < tiles.size(); from += together) {
                List<TileGrid.Tile> some = tiles.subList(from, Math.min(tiles.size(), from + together));
                some.forEach(tile -> options.listener().tile(new TileListener.Progress(chunk + 1, chunks, tile.index() + 1, grid.count())));
                List<Tensor> decoded = IntStream.range(0, some.size()).mapToObj(i -> pixels.select(0, i)).toList();
                network.decode(some.stream().map(tile -> tile.of(clip)).toList(), rotary, ws, options.tap(), decoded);
                for (int i = 0; i < some.size(); i++) {
                    stitcher.place(some.get(i).times(ratio), decoded.get(i));
                }
            }
        }
    }

    /** Copies the clip's latent frames, repeating the last one past the end. */
    private void readClip(int first) {
        int n = clip.size(1);
        int have = Math.min(n, latents.size(1) - first);
        backend.copy(latents.slice(1, first, first + have), clip.slice(1, 0, have));
        int last = latents.size(1) - 1;
        for (int t = have; t < n; t++) {
            backend.copy(latents.slice(1, last, last + 1), clip.slice(1, t, t + 1));
        }
    }
}
