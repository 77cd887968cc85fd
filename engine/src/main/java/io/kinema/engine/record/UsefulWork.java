package io.kinema.engine.record;

import io.kinema.model.dit.DitConfig;

/**
 * Useful floating-point operations of the transformer by a closed formula of its sizes: matrix products and attention on valid rows;
 * norms, rotary embeddings, softmax, padding, conversions, the rotation of rows and the decoding of weights are left out. A
 * multiply-add counts as two. Plans use it before a run; what a run executed is counted by
 * {@link io.kinema.model.work.WorkCounter}, and tests hold the two equal.
 *
 * <p>The reference evaluates all of {@link #forward} at every step. This engine refines the text and evaluates a timestep's modulation
 * once per request ({@link #preparation}), so its steps are {@link #step}.
 *
 * @param hidden        width of the residual stream
 * @param inner         heads times head size
 * @param ffn           width of the feed-forward
 * @param layers        blocks
 * @param refiners      token refiner blocks
 * @param text          width of the text hidden state
 * @param video         values of a video row
 * @param audio         values of an audio row
 * @param modulation    width of the input of the modulation tables
 * @param timeEmbedding weights of the timestep MLP, 0 for a model whose table of embeddings was made beforehand
 */
public record UsefulWork(long hidden, long inner, long ffn, long layers, long refiners, long text, long video, long audio,
                         long modulation, long timeEmbedding) {
    /** The formula, for run records and plans. */
    public static final String FORMULA = "steps*(layers*(2*N*W + 4*inner*N^2) + 2*hidden*(video*(V + Vg) + audio*(A + Ag)))"
            + " + refiners*(2*L*W + 4*inner*L^2) + 2*hidden*text*L + 2*T*(time + modulation*(layers*18 + 2)*hidden);"
            + " W = 4*inner*hidden + 3*hidden*ffn; N = all rows, L text, V video and A audio rows (Vg, Ag generated),"
            + " T = distinct timesteps of all steps, time = weights of the timestep MLP; adapters on top";

    /** The sizes of a transformer. */
    public static UsefulWork of(DitConfig c) {
        return new UsefulWork(c.hidden(), c.inner(), c.ffn(), c.layers(), c.refinerLayers(), c.textDim(), c.videoPatchDim(), c.audioChannels(),
                c.adaInput(), c.curve().isPresent() ? 0 : (long) c.freqDim() * c.timeHidden() + (long) c.timeHidden() * c.timeDim());
    }

    /** Work of one step: the rows go in, through the blocks, and the generated ones out. */
    public long step(Rows rows) {
        long n = rows.all();
        long heads = 2 * hidden * (video * ((long) rows.video() + rows.generatedVideo()) + audio * ((long) rows.audio() + rows.generatedAudio()));
        return layers * block(n) + heads;
    }

    /**
     * Work that all steps of a request share.
     *
     * @param timesteps distinct ones of all steps
     */
    public long preparation(Rows rows, int timesteps) {
        return text(rows.text()) + modulations(timesteps);
    }

    /**
     * Work of one evaluation that shares nothing with others, as the reference executes it.
     *
     * @param timesteps distinct ones of this evaluation
     */
    public long forward(Rows rows, int timesteps) {
        return step(rows) + preparation(rows, timesteps);
    }

    /**
     * Work of an adapter on every layer of all blocks in one evaluation that shares nothing, on all ranks together. B of the two layers
     * that ranks split by rows is whole on every rank.
     *
     * @param rank  of the adapter
     * @param ranks that the transformer is split over, 1 or more
     */
    public long adapter(Rows rows, long rank, int ranks) {
        long values = 3 * (hidden + inner) + (inner + hidden) + (hidden + 2 * ffn) + (ffn + hidden) + 2L * (ranks - 1) * hidden;
        return 2 * rank * values * (layers * rows.all() + refiners * rows.text());
    }

    private long block(long rows) {
        long weights = 4 * inner * hidden + 3 * hidden * ffn;
        return 2 * rows * weights + 4 * inner * rows * rows;
    }

    private long text(long rows) {
        return refiners * block(rows) + 2 * hidden * text * rows;
    }

    private long modulations(long timesteps) {
        return 2 * timesteps * (timeEmbedding + modulation * (layers * 18 + 2) * hidden);
    }

    /**
     * Rows of a packed sequence.
     *
     * @param text           text rows
     * @param video          video rows, conditions included
     * @param generatedVideo video rows that are generated
     * @param audio          audio rows, references included
     * @param generatedAudio audio rows that are generated
     */
    public record Rows(int text, int video, int generatedVideo, int audio, int generatedAudio) {
        /** The whole sequence. */
        public long all() {
            return (long) text + video + audio;
        }
    }
}
