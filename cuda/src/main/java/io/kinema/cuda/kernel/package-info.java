/** Kernels built ahead of time: their images, their arguments, their launch rules. */
package io.kinema.cuda.kernel;
