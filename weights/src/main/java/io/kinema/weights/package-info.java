/**
 * Weight files: safetensors by memory map, sharded checkpoints, a writer, exact dtype conversions and content hashes. Nothing
 * here knows a network. Files are untrusted: every rule of the format is checked against the file's size before anything is
 * allocated or mapped, and each complaint is a {@link io.kinema.weights.BadWeightsException}.
 */
package io.kinema.weights;
