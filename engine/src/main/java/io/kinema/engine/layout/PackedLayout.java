package io.kinema.engine.layout;

import java.util.List;

/**
 * Where every row of a request's one packed sequence lies, what it carries and its rotary position; immutable.
 * Rows run {@code [text | conditions | audio left | audio right | video]}; the transformer attends over all of them.
 *
 * <p>Text rows stand at time 0, 1, ...; media starts at the number of text rows. Positions are float64 and equal the
 * reference pipeline's bit for bit (source: the MiniMax-H3 layout blocks of Hugging Face diffusers).
 */
public final class PackedLayout {
    /** Channels of the sound; their rows follow each other, channel by channel. */
    public static final int AUDIO_CHANNELS = 2;

    private final double[] positions;
    private final int[] tags;
    private final int[] videoIndices;
    private final int[] audioIndices;
    private final int textRows;
    private final int conditionVideoRows;
    private final int conditionAudioRows;

    PackedLayout(double[] positions, int[] tags, int[] videoIndices, int[] audioIndices, int textRows,
            int conditionVideoRows, int conditionAudioRows) {
        this.positions = positions;
        this.tags = tags;
        this.videoIndices = videoIndices;
        this.audioIndices = audioIndices;
        this.textRows = textRows;
        this.conditionVideoRows = conditionVideoRows;
        this.conditionAudioRows = conditionAudioRows;
    }

    /**
     * The layout of t2va (no keyframes) and fl2va. A keyframe has the target's size and one latent frame.
     *
     * @param textTags  the tag of every text row: {@link Modality#TEXT}, and {@link Modality#VIDEO} inside vision blocks
     * @param keyframes where each keyframe condition sits, in packed order
     */
    public static PackedLayout ofKeyframes(int[] textTags, Target target, Patch patch, List<Anchor> keyframes) {
        int frameRows = patch.rowsPerFrame(target.height(), target.width());
        LayoutWriter writer = new LayoutWriter(textTags, target, patch, Math.multiplyExact(keyframes.size(), frameRows), 0);
        for (Anchor anchor : keyframes) {
            writer.keyframe(anchor);
        }
        return writer.finish();
    }

    /**
     * The layout of ref2va: every reference in the order given, each advancing the clock on which the generated rows start.
     *
     * @param textTags as in {@link #ofKeyframes}
     */
    public static PackedLayout ofReferences(int[] textTags, Target target, Patch patch, List<ReferenceBlock> references) {
        int videoRows = references.stream().mapToInt(r -> r.videoRows(patch)).reduce(0, Math::addExact);
        int audioRows = references.stream().mapToInt(ReferenceBlock::audioRows).reduce(0, Math::addExact);
        LayoutWriter writer = new LayoutWriter(textTags, target, patch, videoRows, audioRows);
        for (ReferenceBlock reference : references) {
            writer.reference(reference);
        }
        return writer.finish();
    }

    /** Length of the sequence. */
    public int rows() {
        return tags.length;
    }

    /** Number of text rows, vision blocks included; they are rows 0 up to this. */
    public int textRows() {
        return textRows;
    }

    /** A copy of the rotary coordinates, row-major (rows, 3): time, height, width. */
    public double[] positions() {
        return positions.clone();
    }

    /** A copy of {@link #positions()} rounded to FP32, as the transformer takes them. */
    public float[] positionsFp32() {
        float[] out = new float[positions.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = (float) positions[i];
        }
        return out;
    }

    /** A copy of the rows' modality tags. */
    public int[] tags() {
        return tags.clone();
    }

    /** A copy of the video rows' places in the sequence, condition rows first. */
    public int[] videoIndices() {
        return videoIndices.clone();
    }

    /** A copy of the audio rows' places in the sequence, sound references first. */
    public int[] audioIndices() {
        return audioIndices.clone();
    }

    /** The text rows' places in the sequence: 0, 1, ... */
    public int[] textIndices() {
        int[] out = new int[textRows];
        for (int i = 0; i < textRows; i++) {
            out[i] = i;
        }
        return out;
    }

    /** How many of the leading {@link #videoIndices()} are conditions, not generated. */
    public int conditionVideoRows() {
        return conditionVideoRows;
    }

    /** How many of the leading {@link #audioIndices()} are sound references, not generated. */
    public int conditionAudioRows() {
        return conditionAudioRows;
    }

    @Override
    public String toString() {
        return "packed layout of " + rows() + " rows: " + textRows + " text, " + conditionVideoRows + " + "
                + (videoIndices.length - conditionVideoRows) + " video, " + conditionAudioRows + " + "
                + (audioIndices.length - conditionAudioRows) + " audio (conditions + generated)";
    }
}
