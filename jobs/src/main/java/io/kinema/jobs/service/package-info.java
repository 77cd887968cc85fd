/** Puts database, storage and worker together: what {@code kinema serve} and {@code kinema worker} open. */
package io.kinema.jobs.service;
