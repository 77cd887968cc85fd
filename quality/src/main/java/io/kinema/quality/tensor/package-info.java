/** How far two tensors lie apart. */
package io.kinema.quality.tensor;
