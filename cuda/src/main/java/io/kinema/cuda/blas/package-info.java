/** Matrix products by cuBLASLt: one plan a shape, chosen once, FP32 accumulation, nothing reduced in less. */
package io.kinema.cuda.blas;
