package io.kinema.quality.sound;

/**
 * A sudden jump in a sound.
 *
 * @param channel  where
 * @param sample   index of its largest second difference
 * @param jump     that second difference's magnitude; full scale is 1
 * @param ratio    times the root mean square of the second differences around it; infinite in silence
 */
public record Click(int channel, int sample, double jump, double ratio) {
}
