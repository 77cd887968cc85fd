package io.kinema.model.dit;

import java.util.Arrays;

/**
 * Where everything lies in the packed sequence of one request: positions and modality of every row, which rows are text,
 * video and audio, and which rows' velocities are wanted. Immutable; arrays are copied in and not handed out for writing.
 */
public final class DitLayout {
    private final double[] positions;
    private final int[] tags;
    private final int[] text;
    private final int[] video;
    private final int[] audio;
    private final int[] wantedVideo;
    private final int[] wantedAudio;

    private DitLayout(double[] positions, int[] tags, int[] text, int[] video, int[] audio, int[] wantedVideo, int[] wantedAudio) {
        this.positions = positions;
        this.tags = tags;
        this.text = text;
        this.video = video;
        this.audio = audio;
        this.wantedVideo = wantedVideo;
        this.wantedAudio = wantedAudio;
    }

    /**
     * @param positions rotary coordinates (t, h, w) of S rows, row-major [S, 3]; rounded to FP32 only when tables are built
     * @param tags      modality of every row: 0 video, 1 text, 2 audio (a row's index list does not decide it: vision blocks
     *                  inside the text carry 0)
     * @param text      packed row of every text row, in their order
     * @param video     packed row of every video row
     * @param audio     packed row of every audio row
     * @throws IllegalArgumentException when sizes disagree, a tag or index is out of range, or two rows claim one place
     */
    public static DitLayout of(double[] positions, int[] tags, int[] text, int[] video, int[] audio) {
        int rows = tags.length;
        if (positions.length != (long) rows * DitConfig.AXES) {
            throw new IllegalArgumentException("layout positions: got " + positions.length + " values, expected 3 for each of " + rows + " tags");
        }
        for (int i = 0; i < rows; i++) {
            if (tags[i] < 0 || tags[i] >= DitConfig.MODALITIES) {
                throw new IllegalArgumentException("layout tag of row " + i + ": got " + tags[i] + ", expected 0 (video), 1 (text) or 2 (audio)");
            }
        }
        boolean[] taken = new boolean[rows];
        claim("text", text, taken);
        claim("video", video, taken);
        claim("audio", audio, taken);
        return new DitLayout(positions.clone(), tags.clone(), text.clone(), video.clone(), audio.clone(), video.clone(), audio.clone());
    }

    /**
     * The same layout with velocities only for some rows, for example those that are generated and not given.
     *
     * @param wantedVideo indices into the video rows (not into the packed sequence)
     * @param wantedAudio indices into the audio rows
     */
    public DitLayout returning(int[] wantedVideo, int[] wantedAudio) {
        return new DitLayout(positions, tags, text, video, audio, pick("video", wantedVideo, video), pick("audio", wantedAudio, audio));
    }

    /** Rows of the packed sequence. */
    public int rows() {
        return tags.length;
    }

    public int textRows() {
        return text.length;
    }

    public int videoRows() {
        return video.length;
    }

    public int audioRows() {
        return audio.length;
    }

    /** Video rows whose velocity is returned. */
    public int wantedVideoRows() {
        return wantedVideo.length;
    }

    /** Audio rows whose velocity is returned. */
    public int wantedAudioRows() {
        return wantedAudio.length;
    }

    double position(int row, int axis) {
        return positions[row * DitConfig.AXES + axis];
    }

    int tag(int row) {
        return tags[row];
    }

    int[] text() {
        return text;
    }

    int[] video() {
        return video;
    }

    int[] audio() {
        return audio;
    }

    /** Packed rows of the wanted velocities: video, then audio. */
    int[] wanted() {
        int[] all = Arrays.copyOf(wantedVideo, wantedVideo.length + wantedAudio.length);
        System.arraycopy(wantedAudio, 0, all, wantedVideo.length, wantedAudio.length);
        return all;
    }

    /** True when some packed row is neither text, video nor audio: the reference leaves such rows zero. */
    boolean hasUnclaimedRows() {
        return claimedRows() < tags.length;
    }

    /** Packed rows that are text, video or audio; the others are padding. */
    int claimedRows() {
        return text.length + video.length + audio.length;
    }

    private static void claim(String what, int[] indices, boolean[] taken) {
        for (int i : indices) {
            if (i < 0 || i >= taken.length) {
                throw new IllegalArgumentException("layout " + what + " index: got " + i + ", expected 0 to " + (taken.length - 1));
            }
            if (taken[i]) {
                throw new IllegalArgumentException("layout " + what + " index " + i + ": the packed row is already taken, expected one owner for every row");
            }
            taken[i] = true;
        }
    }

    private static int[] pick(String what, int[] wanted, int[] all) {
        boolean[] seen = new boolean[all.length];
        int[] picked = new int[wanted.length];
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i] < 0 || wanted[i] >= all.length || seen[wanted[i]]) {
                throw new IllegalArgumentException("layout wanted " + what + " row: got " + wanted[i] + ", expected distinct values from 0 to " + (all.length - 1));
            }
            seen[wanted[i]] = true;
            picked[i] = all[wanted[i]];
        }
        return picked;
    }
}
