package io.kinema.fuzz;

import io.kinema.media.container.MediaLimits;
import io.kinema.media.video.VideoReader;
import java.nio.file.Path;
import java.util.Optional;

/** A video file: probed and decoded for some pictures, or refused. */
public final class VideoFuzz {
    private static final Scratch SCRATCH = new Scratch("video");
    private static final MediaLimits LIMITS = new MediaLimits(1 << 20, 1 << 18, 10);
    private static final int PICTURES = 40;

    private VideoFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Path file = SCRATCH.write("x", data);
        Refusals.allow(() -> {
            try (VideoReader reader = VideoReader.open(file, LIMITS)) {
                for (int i = 0; i < PICTURES; i++) {
                    Optional<VideoReader.VideoFrame> frame = reader.next();
                    if (frame.isEmpty()) {
                        break;
                    }
                    if ((long) frame.get().image().width() * frame.get().image().height() > LIMITS.maxPixels()) {
                        throw new AssertionError(frame.get().image() + " is beyond the limit");
                    }
                }
            }
        });
    }
}
