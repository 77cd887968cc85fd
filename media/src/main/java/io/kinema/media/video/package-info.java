/** Videos: writing MP4 while frames arrive, and reading pictures one by one. */
package io.kinema.media.video;
