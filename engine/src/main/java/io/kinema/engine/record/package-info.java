/** How a clip came to be: the run record, the count of useful work and measurements of the finished sound. */
package io.kinema.engine.record;
