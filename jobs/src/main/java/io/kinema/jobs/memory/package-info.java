/** Jobs on the heap of one process: for tests, and for programs that need no memory of their jobs. */
package io.kinema.jobs.memory;
