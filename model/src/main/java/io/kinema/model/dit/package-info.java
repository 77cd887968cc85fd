/** The diffusion transformer. */
package io.kinema.model.dit;
