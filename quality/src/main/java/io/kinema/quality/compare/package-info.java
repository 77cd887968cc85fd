/** Two results side by side: finds what belongs to each, reads it as a stream, measures it and judges it. */
package io.kinema.quality.compare;
