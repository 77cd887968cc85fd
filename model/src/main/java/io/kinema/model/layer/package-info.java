/** Layers that several networks are made of. */
package io.kinema.model.layer;
