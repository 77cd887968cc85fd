package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;

/** Encodes frames clip by clip and tile by tile; the last clip is filled by repeating the last frame. */
final class ClipEncoder {
    private final Backend backend;
    private final VideoEncoder network;
    private final ClipTiming timing;
    private final CodingOptions options;
    private final Workspace ws;
    private final FrameSource source;
    private final TileGrid grid;
    private final TileGrid latentGrid;
    private final int ratio;
    private final Tensor clip;
    private final Tensor moments;

    ClipEncoder(Backend backend, VideoEncoder network, VideoVaeConfig config, CodingOptions options, Workspace ws, FrameSource source) {
        this.backend = backend;
        this.network = network;
        this.options = options;
        this.ws = ws;
        this.source = source;
        timing = config.timing();
        ratio = config.spatialRatio();
        grid = TileGrid.cover(source.height(), source.width(), options.tiling(), ratio);
        latentGrid = grid.dividedBy(ratio);
        boolean picture = source.count() == 1;
        clip = ws.f32(config.inChannels(), picture ? 1 : timing.clipLength(), source.height(), source.width());
        moments = ws.f32(2L * config.latentChannels(), picture ? 1 : timing.tokensPerChunk(), source.height() / ratio, source.width() / ratio);
    }

    /** @param out FP32 [2 * latent channels, latent frames, h, w]; written whole */
    void run(Tensor out) {
        int clips = timing.clips(source.count());
        for (int i = 0; i < clips; i++) {
            readClip(i * clip.size(1));
            encodeClip(i, clips);
            int first = i * moments.size(1);
            int kept = Math.min(moments.size(1), out.size(1) - first);
            if (kept > 0) {
                backend.copy(moments.slice(1, 0, kept), out.slice(1, first, first + kept));
            }
        }
    }

    private void encodeClip(int index, int clips) {
        try (Workspace.Frame frame = ws.frame()) {
            TileStitcher stitcher = new TileStitcher(backend, ws, latentGrid, moments);
            Tensor pixels = ws.f32(clip.size(0), clip.size(1), grid.rows().length(), grid.columns().length());
            Tensor part = ws.f32(moments.size(0), moments.size(1), latentGrid.rows().length(), latentGrid.columns().length());
            for (TileGrid.Tile tile : grid.tiles()) {
                options.listener().tile(new TileListener.Progress(index + 1, clips, tile.index() + 1, grid.count()));
                backend.copy(tile.of(clip), pixels);
                network.encode(pixels, ws, options.tap(), part);
                stitcher.place(tile.dividedBy(ratio), part);
            }
        }
    }

    private void readClip(int first) {
        int n = clip.size(1);
        int have = Math.min(n, source.count() - first);
        source.read(first, clip.slice(1, 0, have));
        for (int t = have; t < n; t++) {
            backend.copy(clip.slice(1, have - 1, have), clip.slice(1, t, t + 1));
        }
    }
}
