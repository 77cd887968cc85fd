package io.kinema.quality.report;

/**
 * One measured thing in words.
 *
 * @param name of what
 * @param text its numbers
 */
record Finding(String name, String text) {
}
