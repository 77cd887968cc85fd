/**
 * The FFmpeg libraries, one class per native handle, each freeing what it owns on every path.
 *
 * <p>Inner room: only {@code io.kinema.media} and its packages use it. FFmpeg never opens a file, a URL or a device here; all its
 * bytes come and go through {@link io.kinema.media.ffmpeg.ChannelIo}, so a playlist or a reference inside a file leads nowhere.
 */
package io.kinema.media.ffmpeg;
