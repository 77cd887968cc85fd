/** The HTTP API and Studio. */
package io.kinema.serve;
