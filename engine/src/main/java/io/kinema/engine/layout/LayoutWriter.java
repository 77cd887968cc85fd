package io.kinema.engine.layout;

/** Fills one {@link PackedLayout} from front to back; {@code clock} is the rotary time at which the next block starts. */
final class LayoutWriter {
    private final Target target;
    private final Patch patch;
    private final RotaryGrid.Frame targetFrame;
    private final double[] positions;
    private final int[] tags;
    private final int[] videoIndices;
    private final int[] audioIndices;
    private final int textRows;
    private final int conditionVideoRows;
    private final int conditionAudioRows;
    private int row;
    private int videoRow;
    private int audioRow;
    private double clock;

    LayoutWriter(int[] textTags, Target target, Patch patch, int conditionVideoRows, int conditionAudioRows) {
        if (patch.frames() != 1) {
            throw new IllegalArgumentException("patch: got " + patch.frames() + " latent frames in a row, H3 packs 1");
        }
        requireDivides(patch, target.height(), target.width());
        this.target = target;
        this.patch = patch;
        this.targetFrame = RotaryGrid.frame(target.height(), target.width(), patch);
        this.textRows = textTags.length;
        this.conditionVideoRows = conditionVideoRows;
        this.conditionAudioRows = conditionAudioRows;
        int video = Math.addExact(conditionVideoRows, Math.multiplyExact(target.frames(), targetFrame.rows()));
        int audio = Math.addExact(conditionAudioRows, Math.multiplyExact(target.audioLatents(), PackedLayout.AUDIO_CHANNELS));
        int rows = Math.addExact(textRows, Math.addExact(video, audio));
        positions = new double[Math.multiplyExact(rows, 3)];
        tags = new int[rows];
        videoIndices = new int[video];
        audioIndices = new int[audio];
        text(textTags);
    }

    private void text(int[] textTags) {
        for (int tag : textTags) {
            position(row, 0, 0);
            tags[row++] = tag;
        }
        clock = textRows;
    }

    void keyframe(Anchor anchor) {
        videoFrame(switch (anchor) {
            case FIRST -> clock;
            case LAST -> RotaryGrid.lastAnchor(target.frames(), clock);
        }, targetFrame);
    }

    void reference(ReferenceBlock reference) {
        switch (reference) {
            case ReferenceBlock.Image image -> {
                requireDivides(patch, image.height(), image.width());
                videoFrame(clock, RotaryGrid.frame(image.height(), image.width(), patch));
                clock += 1;
            }
            case ReferenceBlock.Audio audio -> {
                audio(audio.latents(), targetFrame);
                clock += audio.latents();
            }
            case ReferenceBlock.Video video -> {
                requireDivides(patch, video.height(), video.width());
                RotaryGrid.Frame frame = RotaryGrid.frame(video.height(), video.width(), patch);
                audio(video.audioLatents(), frame);
                video(video.frames(), frame);
                clock += Math.max(video.audioLatents(), RotaryGrid.runningSpan(video.frames()));
            }
        }
    }

    /** Adds the generated rows. */
    PackedLayout finish() {
        audio(target.audioLatents(), targetFrame);
        video(target.frames(), targetFrame);
        return new PackedLayout(positions, tags, videoIndices, audioIndices, textRows, conditionVideoRows, conditionAudioRows);
    }

    private void video(int frames, RotaryGrid.Frame frame) {
        for (double time : RotaryGrid.frameTimes(frames, clock)) {
            videoFrame(time, frame);
        }
    }

    private void videoFrame(double time, RotaryGrid.Frame frame) {
        for (double h : frame.heights()) {
            for (double w : frame.widths()) {
                videoIndices[videoRow++] = row;
                put(Modality.VIDEO, time, h, w);
            }
        }
    }

    /** Sound has no height; its channels stand at the two ends of the width axis of their block. */
    private void audio(int latents, RotaryGrid.Frame frame) {
        for (double w : new double[] {frame.left(), frame.right()}) {
            for (int i = 0; i < latents; i++) {
                audioIndices[audioRow++] = row;
                put(Modality.AUDIO, clock + i, 0, w);
            }
        }
    }

    private void put(Modality modality, double time, double height, double width) {
        position(time, height, width);
        tags[row++] = modality.tag();
    }

    private void position(double time, double height, double width) {
        positions[3 * row] = time;
        positions[3 * row + 1] = height;
        positions[3 * row + 2] = width;
    }

    private static void requireDivides(Patch patch, int height, int width) {
        if (height % patch.height() != 0 || width % patch.width() != 0) {
            throw new IllegalArgumentException("latent frame of " + height + " x " + width + ": expected multiples of the patch ("
                    + patch.height() + ", " + patch.width() + ")");
        }
    }
}
