package io.kinema.engine.pipeline;

import io.kinema.model.audio.AudioVae;
import io.kinema.model.dit.Transformer;
import io.kinema.model.text.PromptEncoder;
import io.kinema.model.video.VideoVae;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;

/** The most scratch bytes that each network has used, by its name in run records; those that were closed to make room included. One thread. */
final class ScratchPeaks {
    private final SortedMap<String, Long> bytes = new TreeMap<>();

    /** Looks at a part of a model; what is no network has none. */
    void add(AutoCloseable part) {
        switch (part) {
            case Transformer dit -> bytes.merge("transformer", dit.peakScratchBytes(), Long::max);
            case PromptEncoder text -> bytes.merge("text_encoder", text.peakScratchBytes(), Long::max);
            case VideoVae vae -> bytes.merge("vae", vae.peakScratchBytes(), Long::max);
            case AudioVae vae -> bytes.merge("audio_vae", vae.peakScratchBytes(), Long::max);
            default -> { }
        }
    }

    /** The peaks so far. @param open what has been added when it is closed, and not before */
    SortedMap<String, Long> with(Collection<AutoCloseable> open) {
        open.forEach(this::add);
        return new TreeMap<>(bytes);
    }
}
