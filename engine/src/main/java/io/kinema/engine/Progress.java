package io.kinema.engine;

import java.time.Duration;

/** What a running request tells its {@link ProgressListener}. Times are wall-clock, measured, never invented. */
public sealed interface Progress {
    /** A stage began. */
    record StageStarted(Stage stage) implements Progress {
    }

    /** A stage ended; {@code elapsed} is its own time. */
    record StageFinished(Stage stage, Duration elapsed) implements Progress {
    }

    /**
     * A model evaluation of the denoising loop finished.
     *
     * @param step      evaluations finished, 1 to {@code steps}
     * @param steps     evaluations of this output
     * @param elapsed   since the loop began
     * @param remaining of the loop, from the mean of the finished steps
     */
    record StepFinished(int step, int steps, Duration elapsed, Duration remaining) implements Progress {
    }

    /**
     * One of several outputs begins.
     *
     * @param index   0 to {@code outputs - 1}
     * @param seed    its seed
     */
    record OutputStarted(int index, int outputs, long seed) implements Progress {
    }

    /** Something the user should read: a snapped value, a default chosen, clipped sound. */
    record Message(String text) implements Progress {
    }
}
