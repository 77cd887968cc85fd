/** Metrics of pictures, sound and latents, and the comparison of two results. */
package io.kinema.quality;
