/** Tensors, weights and the operations that every backend has. Nothing here names a model or a device's library. */
package io.kinema.compute;
