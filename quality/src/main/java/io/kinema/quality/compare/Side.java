package io.kinema.quality.compare;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What there is of one of the two results.
 *
 * @param given   as the user named it
 * @param clip    a video file
 * @param frames  pictures in order: frames before any encoding
 * @param sound   a sound file, before lossy encoding when it belongs to a clip
 * @param tensors a safetensors file: final latents, or any tensors
 * @param record  the run record of a clip that Kinema made
 * @param notes   what was found and left out, and why
 */
public record Side(Path given, Optional<Path> clip, List<Path> frames, Optional<Path> sound, Optional<Path> tensors, Optional<Path> record,
                   List<String> notes) {
    public Side {
        frames = List.copyOf(frames);
        notes = List.copyOf(notes);
    }

    static Side of(Path given) {
        return new Side(given, Optional.empty(), List.of(), Optional.empty(), Optional.empty(), Optional.empty(), List.of());
    }

    Side withClip(Path file) {
        return new Side(given, Optional.of(file), frames, sound, tensors, record, notes);
    }

    Side withFrames(List<Path> pictures) {
        return new Side(given, clip, pictures, sound, tensors, record, notes);
    }

    Side withSound(Path file) {
        return new Side(given, clip, frames, Optional.of(file), tensors, record, notes);
    }

    Side withTensors(Path file) {
        return new Side(given, clip, frames, sound, Optional.of(file), record, notes);
    }

    Side withRecord(Path file) {
        return new Side(given, clip, frames, sound, tensors, Optional.of(file), notes);
    }

    Side noting(String note) {
        return new Side(given, clip, frames, sound, tensors, record, Stream.concat(notes.stream(), Stream.of(note)).toList());
    }

    /** Whether there is something to see. */
    public boolean hasPictures() {
        return clip.isPresent() || !frames.isEmpty();
    }
}
