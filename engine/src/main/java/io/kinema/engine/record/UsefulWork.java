package io.kinema.engine.record;

import io.kinema.model.dit.DitConfig;

/**
 * Useful floating-point operations of the transformer, counted from shapes: matrix products and attention on valid rows;
 * norms, rotary embeddings, softmax, padding and conversions are left out. A multiply-add counts as two.
 *
 * @param hidden     width of the residual stream
 * @param inner      heads times head size
 * @param ffn        width of the feed-forward
 * @param layers     blocks
 * @param refiners   token refiner blocks
 * @param text       width of the text hidden state
 * @param video      values of a video row
 * @param audio      values of an audio row
 * @param modulation width of the input of the modulation tables
 */
public record UsefulWork(long hidden, long inner, long ffn, long layers, long refiners, long text, long video, long audio,
                         long modulation) {
    /** The formula, for run records. */
    public static final String FORMULA = "layers*(2*N*W + 4*inner*N^2) + refiners*(2*L*W + 4*inner*L^2)"
            + " + 2*hidden*(video*(V + Vg) + audio*(A + Ag)) + 2*hidden*text*L + 2*T*modulation*(layers*18 + 2)*hidden;"
            + " W = 4*inner*hidden + 3*hidden*ffn; N = all rows, L text, V video and A audio rows (Vg, Ag generated),"
            + " T = timesteps not evaluated in an earlier step";

    /** The sizes of a transformer. */
    public static UsefulWork of(DitConfig c) {
        return new UsefulWork(c.hidden(), c.inner(), c.ffn(), c.layers(), c.refinerLayers(), c.textDim(), c.videoPatchDim(), c.audioChannels(),
                c.adaInput());
    }

    /**
     * Work of one evaluation.
     *
     * @param rows          what the packed sequence holds
     * @param newTimesteps  distinct timesteps whose modulation no earlier step evaluated
     */
    public double evaluation(Rows rows, int newTimesteps) {
        double n = (double) rows.text() + rows.video() + rows.audio();
        double l = rows.text();
        double w = 4.0 * inner * hidden + 3.0 * hidden * ffn;
        double blocks = layers * (2 * n * w + 4 * inner * n * n) + refiners * (2 * l * w + 4 * inner * l * l);
        double heads = 2.0 * hidden * (video * (double) (rows.video() + rows.generatedVideo())
                + audio * (double) (rows.audio() + rows.generatedAudio()));
        double modulations = 2.0 * newTimesteps * modulation * (layers * 18 + 2) * hidden;
        return blocks + heads + 2.0 * hidden * text * l + modulations;
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
    }
}
