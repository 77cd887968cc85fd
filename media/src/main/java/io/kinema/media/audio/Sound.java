package io.kinema.media.audio;

/**
 * Sampled sound: {@code channels[c][i]} is sample {@code i} of channel {@code c}, nominally in [-1, 1].
 *
 * <p>The arrays are shared, not copied: whoever made the sound gives them away, and nobody changes them afterwards.
 */
public final class Sound {

    private final int sampleRate;
    private final float[][] channels;

    /**
     * @param sampleRate samples per second and channel, at least 1
     * @param channels one or more arrays of one length
     */
    public Sound(int sampleRate, float[][] channels) {
        if (sampleRate < 1 || channels.length < 1) {
            throw new IllegalArgumentException("Sound needs a positive rate and a channel, got " + sampleRate + " Hz and "
                    + channels.length + " channels.");
        }
        for (float[] channel : channels) {
            if (channel.length != channels[0].length) {
                throw new IllegalArgumentException("The channels of a sound have one length, got " + channels[0].length + " and "
                        + channel.length + ".");
            }
        }
        this.sampleRate = sampleRate;
        this.channels = channels;
    }

    public int sampleRate() {
        return sampleRate;
    }

    public int channelCount() {
        return channels.length;
    }

    /** Samples per channel. */
    public int length() {
        return channels[0].length;
    }

    /** One channel itself, not a copy. */
    public float[] channel(int index) {
        return channels[index];
    }

    /** Duration. */
    public double seconds() {
        return (double) length() / sampleRate;
    }

    @Override
    public String toString() {
        return channels.length + " channels of " + length() + " samples at " + sampleRate + " Hz";
    }
}
