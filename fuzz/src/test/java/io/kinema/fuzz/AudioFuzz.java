package io.kinema.fuzz;

import io.kinema.media.audio.AudioReader;
import io.kinema.media.container.MediaLimits;
import java.nio.file.Path;

/** A sound file: probed and decoded, or refused. */
public final class AudioFuzz {
    private static final Scratch SCRATCH = new Scratch("audio");
    private static final MediaLimits LIMITS = new MediaLimits(1 << 20, 1 << 18, 10);

    private AudioFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Path file = SCRATCH.write("x", data);
        Refusals.allow(() -> AudioReader.read(file, LIMITS));
    }
}
