/**
 * Adapters: low-rank deltas and edits of the transformer's weights, in the file formats that people have. {@link
 * io.kinema.model.adapter.AdapterFile} opens one; whatever its key style, the result is one
 * {@link io.kinema.model.adapter.Adapter} in the names of the diffusers layout.
 */
package io.kinema.model.adapter;
