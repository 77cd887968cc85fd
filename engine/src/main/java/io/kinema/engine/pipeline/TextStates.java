package io.kinema.engine.pipeline;

/**
 * What the text encoder made of a request.
 *
 * @param hidden FP32 [rows, width], row-major
 * @param tags   modality of each row
 * @param width  channels of a row
 */
record TextStates(float[] hidden, int[] tags, int width) {
}
