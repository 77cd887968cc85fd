/** NCCL: sums and gathers between GPUs. */
package io.kinema.cuda.nccl;
