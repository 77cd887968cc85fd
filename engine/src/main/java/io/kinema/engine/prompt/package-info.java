/**
 * A request in the text encoder's language: {@link io.kinema.engine.prompt.H3Tokenizer} turns text into token ids,
 * {@link io.kinema.engine.prompt.Presentation} puts labels, vision blocks and the prompt in order. Pixels are none of its
 * business; it takes {@linkplain io.kinema.engine.prompt.VisionGrid patch grids}.
 */
package io.kinema.engine.prompt;
