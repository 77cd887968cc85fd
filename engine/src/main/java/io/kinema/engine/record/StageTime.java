package io.kinema.engine.record;

import io.kinema.engine.Stage;

/**
 * Wall-clock time of a stage.
 *
 * @param seconds from its first to its last instruction
 */
public record StageTime(Stage stage, double seconds) {
}
