/** Pictures of latents, without a decoder: good enough to see where a clip is heading. */
package io.kinema.serve.preview;
