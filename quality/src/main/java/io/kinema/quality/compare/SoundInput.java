package io.kinema.quality.compare;

import io.kinema.media.audio.AudioReader;
import io.kinema.media.audio.Sound;
import io.kinema.media.container.HeaderReader;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A whole sound.
 *
 * @param text  where it comes from, for people
 * @param lossy whether a lossy codec stands between it and what was made
 * @param sound its samples
 * @param span  when it is heard
 */
record SoundInput(String text, boolean lossy, Sound sound, Span span) {
    /**
     * The sound of a file, empty for a video without one.
     *
     * @param clip what was made of it, which says when it is heard
     */
    static Optional<SoundInput> of(Path file, Optional<Path> clip) {
        return HeaderReader.read(file, Limits.LONG).sound().flatMap(header -> {
            boolean lossy = !header.codec().startsWith("pcm_") && !header.codec().equals("flac");
            String text = (lossy ? "decoded from " : "samples of ") + file.getFileName() + " (" + header.codec() + ")";
            return AudioReader.readTrack(file, Limits.LONG)
                    .map(sound -> new SoundInput(text, lossy, sound, new Span(AudioReader.startSeconds(clip.orElse(file), Limits.LONG).orElse(0), sound.seconds())));
        });
    }
}
