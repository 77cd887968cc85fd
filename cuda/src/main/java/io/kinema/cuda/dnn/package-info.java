/** Attention by cuDNN's graph API. */
package io.kinema.cuda.dnn;
