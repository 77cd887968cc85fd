/**
 * Pictures, videos and sounds of a request brought to the model's own sizes and rates: the canvas rule, keyframes, references
 * and the pixels that the text encoder sees. Everything is exact to the byte against the reference implementation, sound to
 * 2e-6.
 */
package io.kinema.engine.preprocess;
