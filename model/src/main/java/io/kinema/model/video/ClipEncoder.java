package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.ArrayList;
import java.util.List;

/** Encodes frames clip by clip and tile by tile; the last clip is filled by repeating the last frame. */
final class ClipEncoder {
    private final Backend backend;
    private final ClipTiming timing;
    private final CodingOptions options;
    private final FrameSource source;
    private final TileGrid grid;
    private final int ratio;
    private final TileRounds rounds;
    private final Tensor clip;
    private final Tensor moments;
    private final List<Tensor> pixels;
    private final List<Tensor> parts;
    private final TileStitcher stitcher;

    /**
     * @param rounds lanes that encode tiles of this grid's size
     * @param ws     of the first rank
     */
    ClipEncoder(Backend backend, TileRounds rounds, VideoVaeConfig config, CodingOptions options, Workspace ws, FrameSource source) {
        this.backend = backend;
        this.rounds = rounds;
        this.options = options;
        this.source = source;
        timing = config.timing();
        ratio = config.spatialRatio();
        grid = TileGrid.cover(source.height(), source.width(), options.tiling(), ratio);
        TileGrid latentGrid = grid.dividedBy(ratio);
        boolean picture = source.count() == 1;
        clip = ws.f32(config.inChannels(), picture ? 1 : timing.clipLength(), source.height(), source.width());
        moments = ws.f32(2L * config.latentChannels(), picture ? 1 : timing.tokensPerChunk(), source.height() / ratio, source.width() / ratio);
        stitcher = new TileStitcher(backend, ws, latentGrid, moments);
        pixels = rounds.tensors(clip.size(0), clip.size(1), grid.rows().length(), grid.columns().length());
        parts = rounds.tensors(moments.size(0), moments.size(1), latentGrid.rows().length(), latentGrid.columns().length());
    }

    /** One tile of one clip. */
    private record Unit(int clip, TileGrid.Tile tile) {
    }

    /** @param out FP32 [2 * latent channels, latent frames, h, w]; written whole */
    void run(Tensor out) {
        int clips = timing.clips(source.count());
        List<TileGrid.Tile> tiles = grid.tiles();
        List<Unit> units = new ArrayList<>();
        for (int i = 0; i < clips; i++) {
            for (TileGrid.Tile tile : tiles) {
                units.add(new Unit(i, tile));
            }
        }
        for (int from = 0; from < units.size(); from += rounds.size()) {
            List<Unit> round = units.subList(from, Math.min(units.size(), from + rounds.size()));
            encode(round, clips);
            for (int i = 0; i < round.size(); i++) {
                stitcher.place(round.get(i).tile().dividedBy(ratio), parts.get(i));
                if (round.get(i).tile().index() == tiles.size() - 1) {
                    keep(round.get(i).clip(), out);
                }
            }
        }
    }

    /** @param round units of a clip, or the last of one and the first of the next ones */
    private void encode(List<Unit> round, int clips) {
        List<TileRounds.Job> jobs = new ArrayList<>();
        for (int i = 0; i < round.size(); i++) {
            Unit unit = round.get(i);
            options.listener().tile(new TileListener.Progress(unit.clip() + 1, clips, unit.tile().index() + 1, grid.count()));
            if (unit.tile().index() == 0) {
                readClip(unit.clip() * clip.size(1));
            }
            backend.copy(unit.tile().of(clip), pixels.get(i));
            jobs.add(new TileRounds.Job(pixels.get(i), parts.get(i)));
        }
        rounds.run(jobs);
    }

    private void keep(int index, Tensor out) {
        int first = index * moments.size(1);
        int kept = Math.min(moments.size(1), out.size(1) - first);
        if (kept > 0) {
            backend.copy(moments.slice(1, 0, kept), out.slice(1, first, first + kept));
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
