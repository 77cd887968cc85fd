package io.kinema.engine.prompt;

/**
 * One run of pad tokens in a presentation, which the text encoder overwrites with vision features.
 *
 * @param kind    picture or video
 * @param source  number of the picture (or video) it shows, from 0, counted within its kind in presentation order
 * @param frame   temporal patch of that source, 0 for a picture
 * @param start   row of the first pad token; the start token is the row in front
 * @param height  rows of merged patches
 * @param width   columns of merged patches
 */
public record VisionBlock(Kind kind, int source, int frame, int start, int height, int width) {
    /** What a vision block shows. */
    public enum Kind { IMAGE, VIDEO }

    /** Number of pad tokens. */
    public int tokens() {
        return height * width;
    }
}
