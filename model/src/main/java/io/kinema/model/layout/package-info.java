/**
 * Which tensors a network's config implies, and the two released ways of storing them: the diffusers layout, whose names the
 * networks read, and MiniMax's original layout, which {@link io.kinema.model.layout.OriginalTensors} presents under those names.
 */
package io.kinema.model.layout;
