/** The CUDA backend: the driver and its libraries called through the foreign function API, and kernels built ahead. */
package io.kinema.cuda;
