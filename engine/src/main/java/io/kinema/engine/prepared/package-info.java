/** Weights in the form that products read, kept as files for the next time and for other processes: when, where, and what is said of it. */
package io.kinema.engine.prepared;
