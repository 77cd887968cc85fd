/** One evaluation of a transformer with random weights, measured by itself: speed and memory at full size without a checkpoint. */
package io.kinema.measure.step;
