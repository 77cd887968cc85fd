/** The fast backend of the processor: OpenBLAS by foreign functions, loops by the Vector API; the same bits for any number of threads. */
package io.kinema.compute.cpu;
