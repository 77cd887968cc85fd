/**
 * Where inputs, results and saved steps of jobs lie: {@link io.kinema.jobs.storage.OutputStorage}, by default a folder that
 * all workers reach.
 */
package io.kinema.jobs.storage;
