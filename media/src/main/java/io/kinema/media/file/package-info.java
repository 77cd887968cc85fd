/** Outputs that appear whole or not at all, and where they may go. */
package io.kinema.media.file;
