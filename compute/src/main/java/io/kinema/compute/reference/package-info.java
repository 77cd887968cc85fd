/** The scalar backend: plain loops with sums in FP64, the oracle that other backends are held to. */
package io.kinema.compute.reference;
