/** Parts of a request with random weights, measured by themselves: speed and memory at full size without a checkpoint. */
package io.kinema.measure.step;
