package io.kinema.media.container;

import java.nio.file.Path;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a video or sound file says of itself; nothing is decoded for it but what FFmpeg needs to know its streams.
 *
 * @param file      as it was given
 * @param container FFmpeg's name of the container: {@code mov} (MP4 too), {@code matroska} (WebM too), {@code wav}, ...
 * @param bytes     size of the file
 * @param seconds   duration of the whole, 0 when the file does not say
 * @param video     its best video stream
 * @param sound     its best sound stream
 * @param tags      text tags of the whole file, sorted
 */
public record MediaHeader(Path file, String container, long bytes, double seconds, Optional<Video> video, Optional<Sound> sound,
                          SortedMap<String, String> tags) {
    public MediaHeader {
        tags = new TreeMap<>(tags);
    }

    /**
     * A video stream.
     *
     * @param codec       FFmpeg's name of its codec
     * @param pixelFormat FFmpeg's name of its pixels, empty when unknown
     * @param width       as seen, a quarter turn of the display matrix applied
     * @param height      as seen
     * @param frameRate   pictures a second: the container's average, else its guess; 0 when unknown
     * @param frames      pictures: counted by the container, else duration times rate; 0 when neither is known
     * @param seconds     its own duration, that of the whole when it has none, 0 when unknown
     */
    public record Video(String codec, String pixelFormat, int width, int height, double frameRate, long frames, double seconds) {
    }

    /**
     * A sound stream.
     *
     * @param codec      FFmpeg's name of its codec
     * @param sampleRate samples a second
     * @param channels   1 is mono
     * @param seconds    as for {@link Video}
     */
    public record Sound(String codec, int sampleRate, int channels, double seconds) {
    }
}
