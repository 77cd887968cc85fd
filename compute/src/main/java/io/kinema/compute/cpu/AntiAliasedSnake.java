package io.kinema.compute.cpu;

import io.kinema.compute.ConvolutionOps.AntiAlias;
import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Upsampling, snake and downsampling fused over short pieces of a row. The fine signal exists only for a piece, split into
 * its phases: phase p holds the fine samples q * ratio + p, so both filters run over neighbouring values.
 */
final class AntiAliasedSnake {
    private static final int PIECE = 2048;

    private final int ratio;
    private final float[] alpha;
    private final float[] invBeta;
    /** Up filter times ratio, by phase, so that {@code F_p[q] = sum_i up[p][i] * x[q + upFirst[p] + i]}. */
    private final float[][] up;
    private final int[] upFirst;
    /** Samples that the widest phase reaches beyond the first. */
    private final int reach;
    /** Repetitions of the end samples that the up filter sees. */
    private final int border;
    private final float[] down;
    private final int downLeft;

    private AntiAliasedSnake(int ratio, float[] upFilter, float[] downFilter, float[] alpha, float[] invBeta) {
        this.ratio = ratio;
        this.alpha = alpha;
        this.invBeta = invBeta;
        this.border = upFilter.length / ratio - 1;
        this.down = downFilter;
        this.downLeft = downFilter.length / 2 - (downFilter.length % 2 == 0 ? 1 : 0);
        this.up = new float[ratio][];
        this.upFirst = new int[ratio];
        splitUpFilter(upFilter);
        this.reach = Arrays.stream(up).mapToInt(taps -> taps.length).max().orElseThrow() + 1;
    }

    static AntiAliasedSnake of(AntiAlias filters, Tensor alpha, Tensor invBeta) {
        return new AntiAliasedSnake(filters.ratio(), filters.upFilter().toFloats(), filters.downFilter().toFloats(),
                alpha.toFloats(), invBeta.toFloats());
    }

    /**
     * Fine sample f = q * ratio + p takes {@code filter[f + cut - s * ratio] * x[s]}, s counted without the border:
     * with cut' = cut - border * ratio = (k - ratio) / 2 the taps are p + cut' - (s - q) * ratio.
     */
    private void splitUpFilter(float[] filter) {
        int cut = (filter.length - ratio) / 2;
        for (int p = 0; p < ratio; p++) {
            int last = Math.floorDiv(p + cut, ratio);
            int first = Math.ceilDiv(p + cut - filter.length + 1, ratio);
            upFirst[p] = first;
            up[p] = new float[last - first + 1];
            for (int s = first; s <= last; s++) {
                up[p][s - first] = ratio * filter[p + cut - s * ratio];
            }
        }
    }

    /** @param x [B, C, L] contiguous, @param out the same; may be x */
    void run(WorkerPool pool, Tensor x, Tensor out) {
        int length = x.size(2);
        int rows = x.size(0) * x.size(1);
        boolean inPlace = x.data().address() == out.data().address();
        int pieces = Math.ceilDiv(length, PIECE);
        if (inPlace) {
            // A piece reads its neighbours' inputs: one task does a whole row and writes a piece behind.
            pool.run(rows, (row, scratch) -> {
                float[] held = scratch.floats(5, PIECE);
                for (int piece = 0; piece < pieces; piece++) {
                    float[] result = piece(x, row, length, piece * PIECE, scratch);
                    write(out, row, length, piece - 1, held);
                    System.arraycopy(result, 0, held, 0, Math.min(PIECE, length - piece * PIECE));
                }
                write(out, row, length, pieces - 1, held);
            });
        } else {
            pool.run(rows * pieces, (i, scratch) ->
                    write(out, i / pieces, length, i % pieces, piece(x, i / pieces, length, i % pieces * PIECE, scratch)));
        }
    }

    private static void write(Tensor out, int row, int length, int piece, float[] values) {
        if (piece >= 0) {
            int first = piece * PIECE;
            MemorySegment.copy(values, 0, out.data(), Rows.F32, ((long) row * length + first) * Float.BYTES, Math.min(PIECE, length - first));
        }
    }

    /** Outputs [first, first + PIECE) of a row, in a scratch array. */
    private float[] piece(Tensor x, int row, int length, int first, Scratch scratch) {
        int n = Math.min(PIECE, length - first);
        // Fine samples from first * ratio - downLeft on, rounded out to whole q.
        int qFirst = first + Math.floorDiv(-downLeft, ratio);
        int qLast = first + n - 1 + Math.floorDiv(down.length - 1 - downLeft, ratio);
        int qs = qLast - qFirst + 1;
        int lowest = Arrays.stream(upFirst).min().orElseThrow();
        float[] source = scratch.floats(0, qs + reach + Lanes.COUNT);
        Edges.readReplicated(x.data(), (long) row * length, length, border, qFirst + (long) lowest, qs + reach, source);
        int pitch = Lanes.roundUp(qs) + Lanes.COUNT;
        float[] fine = scratch.floats(1, ratio * pitch);
        int channel = row % alpha.length;
        for (int p = 0; p < ratio; p++) {
            VectorLoops.fir(source, upFirst[p] - lowest, up[p], fine, p * pitch, qs);
            PlainLoops.snake(fine, p * pitch, qs, alpha[channel], invBeta[channel]);
        }
        replicateEnds(fine, pitch, qFirst, qLast, length);
        float[] result = scratch.floats(2, n);
        VectorLoops.gatheredFir(fine, downOffsets(pitch, first - qFirst), down, result, n);
        return result;
    }

    /** Where tap j of output 0 reads: sample {@code start * ratio + j - downLeft} of a signal that lies phase by phase. */
    private int[] downOffsets(int pitch, int start) {
        int[] offsets = new int[down.length];
        for (int j = 0; j < offsets.length; j++) {
            offsets[j] = Math.floorMod(j - downLeft, ratio) * pitch + start + Math.floorDiv(j - downLeft, ratio);
        }
        return offsets;
    }

    /** Fine samples before the first and after the last of the row repeat those. */
    private void replicateEnds(float[] fine, int pitch, int qFirst, int qLast, int length) {
        for (int q = qFirst; q < 0 && q <= qLast; q++) {
            for (int p = 0; p < ratio; p++) {
                fine[p * pitch + q - qFirst] = fine[-qFirst];
            }
        }
        for (int q = Math.max(qFirst, length); q <= qLast; q++) {
            for (int p = 0; p < ratio; p++) {
                fine[p * pitch + q - qFirst] = fine[(ratio - 1) * pitch + length - 1 - qFirst];
            }
        }
    }
}
