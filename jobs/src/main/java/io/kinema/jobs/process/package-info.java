/**
 * The engine in a process of its own, so that a native crash costs one attempt at one job. The two sides speak
 * length-prefixed JSON ({@link io.kinema.jobs.process.Frames}) over the child's standard input and output:
 * {@link io.kinema.jobs.process.EngineProcess} is the parent's side, {@link io.kinema.jobs.process.EngineHost} the child's.
 */
package io.kinema.jobs.process;
