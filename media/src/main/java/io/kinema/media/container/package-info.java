/** Media files being read: which containers and decoders may be used, within which limits, one stream at a time. */
package io.kinema.media.container;
