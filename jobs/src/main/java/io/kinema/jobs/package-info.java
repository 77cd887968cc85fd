/** Jobs that survive a crash: their store, the worker processes that run them, and where results lie. */
package io.kinema.jobs;
