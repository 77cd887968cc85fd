/** What this installation can run, as a versioned descriptor for front ends. */
package io.kinema.measure.capability;
