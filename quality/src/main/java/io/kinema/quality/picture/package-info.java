/** How far two lots of frames lie apart, and what is wrong with one: seams, flashes, repeats. Pure functions of pixels. */
package io.kinema.quality.picture;
