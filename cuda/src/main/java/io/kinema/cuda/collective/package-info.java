/** Ranks on GPUs: who adds up their tensors, by NCCL or by kernels that read the ranks' buffers. */
package io.kinema.cuda.collective;
