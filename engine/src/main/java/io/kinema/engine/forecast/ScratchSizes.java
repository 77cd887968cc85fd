package io.kinema.engine.forecast;

import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowShares;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.text.TextConfig;
import io.kinema.model.text.VisionConfig;
import io.kinema.model.video.CodingOptions;
import io.kinema.model.video.TileGrid;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.DType;
import java.util.List;

/**
 * The most scratch memory that each network has in use at once, in bytes: the tensors of its widest moment, counted from shapes.
 * A test holds every formula to what the networks' workspaces measure. Rows are counted in FP32 (4 bytes) but for matrix
 * operands, which have {@code operand} bytes. With several ranks it is what all of them have together: rows whole on each, heads and channels shared out.
 */
final class ScratchSizes {
    private static final long F = Float.BYTES;

    private ScratchSizes() {
    }

    /**
     * One evaluation: the residual stream, a normed copy, a branch, and within it attention (q, k, v, result) or feed-forward
     * (gate, up).
     *
     * @param rows    of the packed sequence
     * @param wanted  rows whose velocity is asked for
     * @param rotated whether the blocks' matrices want their input rotated
     * @param deltas  of the adapters in force
     * @param ranks   that share it
     */
    static long transformer(DitConfig c, long rows, long wanted, Precision precision, boolean rotated, DeltaScratch deltas, int ranks) {
        long stream = rows * (c.hidden() * F + F);
        Block block = new Block(c.hidden(), c.inner() / ranks, c.inner() / ranks, c.ffn() / ranks);
        return ranks * (stream + Math.max(block.bytes(rows, precision, rotated, deltas), wanted * (2L * c.hidden() * F + F)));
    }

    /**
     * The same where each rank keeps its own rows of the residual stream: beside them all rows normalised and one branch's partial result, and
     * in the end all rows for the heads.
     */
    static long transformer(DitConfig c, RowShares shares, long wanted, Precision precision, boolean rotated, DeltaScratch deltas) {
        long h = c.hidden() * F;
        int ranks = shares.ranks();
        long op = precision.operand().bytes();
        Block block = new Block(c.hidden(), c.inner() / ranks, c.inner() / ranks, c.ffn() / ranks);
        long gathering = shares.each() * c.hidden() * (rotated ? 2 * op : op);
        long branch = shares.rows() * h + shares.padded() * c.hidden() * op + Math.max(gathering, block.inside(shares.rows(), precision, rotated, deltas));
        long heads = shares.padded() * h + Math.max(shares.each() * h, wanted * (2 * h + F));
        return ranks * (shares.rows() * F + shares.each() * h + Math.max(branch, heads));
    }

    /** FP16 values of one attention, heads shared out to the ranks. */
    static long narrowValues(DitConfig c, long rows) {
        return rows * c.inner() * DType.F16.bytes();
    }

    /** Modulation tables of every timestep, kept on every rank while a request runs. */
    static long modulation(DitConfig c, int timesteps, int ranks) {
        long perBlock = (long) DitConfig.MODALITIES * 6 * c.hidden();
        return ranks * timesteps * (c.layers() * perBlock + 2L * c.hidden()) * F;
    }

    /**
     * The vision tower over the pictures, then over the videos, then the text tower: the same block with fewer key and value heads,
     * beside the features of both kinds and, where there are both, the two interleaved.
     */
    static long text(TextConfig c, VisionConfig v, long rows, long imagePatches, long videoPatches, Precision precision, int ranks) {
        long images = features(v, imagePatches);
        long videos = features(v, videoPatches);
        long both = images > 0 && videos > 0 ? 2 * (images + videos) : images + videos;
        long layers = rows * c.headDim() * F
                + new Block(c.hidden(), (long) c.heads() / ranks * c.headDim(), (long) Math.max(1, c.kvHeads() / ranks) * c.headDim(), c.ffn() / ranks)
                        .bytes(rows, precision, false, new DeltaScratch(List.of(), precision));
        return ranks * Math.max(both + layers, Math.max(images + vision(v, imagePatches, precision), images + videos + vision(v, videoPatches, precision)));
    }

    /** What the vision tower makes of patches: merged tokens, once for the first text layer and once for each deepstack level. */
    private static long features(VisionConfig v, long patches) {
        return patches / v.patchesPerToken() * v.outHidden() * (1L + v.deepstack().size()) * F;
    }

    private static long vision(VisionConfig v, long patches, Precision precision) {
        long h = v.hidden();
        long op = precision.operand().bytes();
        long cast = op == F ? 0 : op;
        long stream = patches * (h + h / v.heads()) * F;
        // Pixels are rounded whole before the first product; of small models they are wider than anything after it.
        long embedding = patches * (h * F + v.pixelsPerRow() * cast);
        long inside = Math.max(patches * (3 * h * op + h * F + h * cast), patches * (v.ffn() * F + v.ffn() * cast));
        return Math.max(embedding, stream + patches * h * (op + F) + inside);
    }

    /** The widths of a pre-norm block. */
    private record Block(long hidden, long inner, long kv, long ffn) {

        /** Beside its residual stream; rotated inputs are one more copy of what enters each half's first and last product. */
        long bytes(long rows, Precision precision, boolean rotated, DeltaScratch deltas) {
            long op = precision.operand().bytes();
            return rows * hidden * (op + F + (rotated ? op : 0)) + inside(rows, precision, rotated, deltas);
        }

        /** Within a branch alone. */
        long inside(long rows, Precision precision, boolean rotated, DeltaScratch deltas) {
            long op = precision.operand().bytes();
            long turned = rotated ? op : 0;
            // What attention and SwiGLU make is FP32, for FP16 products beside its FP16 copy; BF16 products take it as it is stored, and FP32 SwiGLU is in place.
            long made = precision.operand() == DType.F16 ? F + op : op;
            long attention = (inner + 2 * kv) * op + inner * made + inner * turned;
            long feedForward = 2 * ffn * op + (op == F ? 0 : ffn * made) + ffn * turned;
            long projecting = (inner + 2 * kv) * op + deltas.projections(inner);
            long gating = 2 * ffn * op + deltas.gates(ffn);
            return rows * Math.max(Math.max(projecting, gating), Math.max(attention + deltas.output(hidden), feedForward + deltas.down(hidden)));
        }
    }

    /** Decoding: one chunk of frames with its tail, the stitcher's edges, one tile of pixels, and the transformer over one tile. */
    static long videoDecoder(VideoVaeConfig c, Sequence.Decoded latents, int ranks) {
        long latentHeight = latents.height();
        long latentWidth = latents.width();
        int ratio = c.spatialRatio();
        long tokens = c.timing().tokensPerClip();
        TileGrid grid = TileGrid.cover(Math.toIntExact(latentHeight * ratio), Math.toIntExact(latentWidth * ratio), CodingOptions.RELEASED.tiling(), ratio);
        int lanes = Math.min(ranks, c.timing().chunks(latents.frames()) * grid.count());
        long frames = tokens * c.timing().temporalRatio();
        long area = latentHeight * ratio * latentWidth * ratio;
        long kept = lanes * c.latentChannels() * tokens * latentHeight * latentWidth + c.outChannels() * (frames + c.timing().frameOverlap()) * area;
        long tile = (long) grid.rows().length() * grid.columns().length();
        // One rank decodes a clip of one tile in place.
        long stitching = grid.count() == 1 && lanes == 1 ? 0 : c.outChannels() * frames * (lanes * tile + edges(grid));
        long patches = tokens * tile / ratio / ratio;
        long rows = patches + c.decoder().registerTokens() + 1;
        long dim = c.decoder().dim();
        long inner = dim * c.decoder().ffnMult();
        long block = Math.max(5 * dim, 2 * dim + 2 * inner);
        long network = rows * dim + Math.max(rows * block, rows * dim + patches * c.outChannels() * c.timing().temporalRatio() * ratio * ratio);
        return F * (kept + stitching + lanes * (network + rows * 2 * c.decoder().rotaryDim()));
    }

    /** Two lines of bottom edges and two right edges of tiles. */
    private static long edges(TileGrid grid) {
        long bottoms = grid.rows().count() > 1 ? 2L * grid.columns().count() * grid.rows().widestOverlap() * grid.columns().length() : 0;
        long rights = grid.columns().count() > 1 ? 2L * grid.rows().length() * grid.columns().widestOverlap() : 0;
        return bottoms + rights;
    }

    /** Encoding: one clip of pixels, one tile of it, and every level's activations, which stay until the tile is done. */
    static long videoEncoder(VideoVaeConfig c, Sequence.Pixels pixels, int ranks) {
        int frames = pixels.frames() == 1 ? 1 : c.clipLength();
        TileGrid grid = TileGrid.cover(pixels.height(), pixels.width(), CodingOptions.RELEASED.tiling(), c.spatialRatio());
        long tileHeight = grid.rows().length();
        long tileWidth = grid.columns().length();
        long held = (long) c.inChannels() * frames * ((long) pixels.height() * pixels.width() + tileHeight * tileWidth);
        long most = 0;
        long time = frames;
        long area = tileHeight * tileWidth;
        int channels = c.encoderChannels().getFirst();
        held += channels * time * area;
        for (int level = 0; level < c.encoderChannels().size(); level++) {
            int next = c.encoderChannels().get(level);
            long cells = time * area;
            for (int block = 0; block < c.layersPerBlock(); block++) {
                boolean wider = channels != next;
                held += wider ? next * cells : 0;
                most = Math.max(most, held + 2L * next * cells + (wider ? channels * cells : 0));
                channels = next;
            }
            int space = c.spatialFactors().get(level);
            if (space > 1 || c.temporalFactors().get(level) > 1) {
                time = Math.ceilDiv(time, c.temporalFactors().get(level));
                area = area / space / space;
                held += channels * time * area;
            }
        }
        long clip = (long) c.inChannels() * frames * pixels.height() * pixels.width();
        long whole = 2L * c.latentChannels() * time * ((long) pixels.height() * pixels.width() / c.spatialRatio() / c.spatialRatio());
        long moments = 2L * c.latentChannels() * time * area + whole;
        long one = Math.max(most, held + moments) + moments;
        // The clip and its moments are on the first rank alone.
        int lanes = Math.min(ranks, c.timing().clips(pixels.frames()) * grid.count());
        return F * (one + (lanes - 1) * (one - clip - whole));
    }

    /** Decoding both channels: what every stage leaves, and four times the widest stage. */
    static long audioDecoder(AudioVaeConfig c, long latents) {
        long batch = 2;
        long length = latents;
        long held = batch * latents * (c.latentDim() + c.decoderDim());
        long most = held;
        for (int i = 0; i < c.decoderRates().size(); i++) {
            length *= c.decoderRates().get(i);
            long stage = batch * c.decoderChannels(i) * length;
            held += stage;
            most = Math.max(most, held + 4 * stage);
        }
        return F * most;
    }

    /** Encoding both channels: the padded samples, what every stage leaves, and twice the stage's own. */
    static long audioEncoder(AudioVaeConfig c, long samples) {
        long batch = 2;
        long length = Math.ceilDiv(samples, c.hop()) * c.hop();
        long channels = c.encoderDim();
        long held = batch * length * (1 + channels);
        long most = held;
        for (int rate : c.encoderRates()) {
            most = Math.max(most, held + 2 * batch * channels * length);
            length /= rate;
            channels *= 2;
            held += batch * channels * length;
        }
        return F * Math.max(most, held);
    }
}
