/** Workers: they take jobs from the queue, have an engine process make them, and store what it made. */
package io.kinema.jobs.worker;
