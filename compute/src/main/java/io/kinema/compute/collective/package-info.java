/**
 * Ranks of one process and what they do together: reductions, gathers, decisions. A rank is a platform thread with a backend of its own.
 * Nothing here knows a model.
 */
package io.kinema.compute.collective;
