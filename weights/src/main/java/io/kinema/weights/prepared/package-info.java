/**
 * A cache of weights in the form that products read (dtype, order of values), as files that processes of one host map and share. An
 * entry is whole or absent: it is built in a folder of its own, made durable, renamed into place, and marked as ready last. Nothing
 * here knows a network, or how weights are prepared. What lies in the cache's folder is not trusted: it is checked before it is used,
 * and built again when it is not what was written.
 */
package io.kinema.weights.prepared;
