/**
 * From the fields of a call to the engine's request: OpenAI's videos shape, this model's own fields, and the shapes of the other
 * servers of H3 and of MiniMax's own scripts.
 */
package io.kinema.serve.request;
