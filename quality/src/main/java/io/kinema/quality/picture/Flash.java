package io.kinema.quality.picture;

/**
 * A frame that stands out from both of its neighbours while they resemble each other.
 *
 * @param frame    its index
 * @param strength luma levels (0..255) by which it leaves the range between its neighbours, mean over the whole frame or over its
 *                 worst sixteenth, whichever stands out more
 */
public record Flash(int frame, double strength) {
}
