/** How far two sounds lie apart, and what is wrong with one: clipping, clicks. Pure functions of samples. */
package io.kinema.quality.sound;
