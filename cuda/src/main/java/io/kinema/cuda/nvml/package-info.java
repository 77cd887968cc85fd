/** The sensors of NVIDIA's GPUs. */
package io.kinema.cuda.nvml;
