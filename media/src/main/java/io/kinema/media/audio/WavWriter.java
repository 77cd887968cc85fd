package io.kinema.media.audio;

import io.kinema.media.BadMediaException;
import io.kinema.media.file.AtomicFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Writes sound as a 16-bit PCM WAV file: each sample is round-half-even(clamp(x, -1, 1) * 32767), channels interleaved. */
public final class WavWriter {

    private static final int HEADER_BYTES = 44;
    private static final int SAMPLE_BYTES = 2;
    private static final short PCM = 1;

    private WavWriter() {
    }

    /**
     * Writes a whole sound; an existing file is replaced.
     *
     * @throws BadMediaException if the file cannot be written (nothing is left then) or would pass the format's 4 GiB
     */
    public static void write(Sound sound, Path target) {
        long dataBytes = (long) sound.length() * sound.channelCount() * SAMPLE_BYTES;
        if (dataBytes > Integer.MAX_VALUE - HEADER_BYTES) {
            throw new BadMediaException("Cannot write '" + target + "': " + dataBytes + " bytes of sound are more than this WAV writer's "
                    + "2 GiB; write an MP4 instead.");
        }
        try (AtomicFile file = AtomicFile.create(target)) {
            ByteBuffer bytes = encode(sound);
            while (bytes.hasRemaining()) {
                try {
                    file.channel().write(bytes);
                } catch (IOException e) {
                    throw file.failure(e);
                }
            }
            file.commit();
        }
    }

    /** The rounding rule for one sample; not-a-number becomes 0. */
    static short pcm(float sample) {
        return (short) Math.rint(Math.clamp((double) sample, -1, 1) * Short.MAX_VALUE);
    }

    private static ByteBuffer encode(Sound sound) {
        int frameBytes = sound.channelCount() * SAMPLE_BYTES;
        int dataBytes = sound.length() * frameBytes;
        ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
        tag(out, "RIFF").putInt(HEADER_BYTES - 8 + dataBytes);
        tag(out, "WAVE");
        tag(out, "fmt ").putInt(16).putShort(PCM).putShort((short) sound.channelCount()).putInt(sound.sampleRate())
                .putInt(sound.sampleRate() * frameBytes).putShort((short) frameBytes).putShort((short) (8 * SAMPLE_BYTES));
        tag(out, "data").putInt(dataBytes);
        for (int i = 0; i < sound.length(); i++) {
            for (int channel = 0; channel < sound.channelCount(); channel++) {
                out.putShort(pcm(sound.channel(channel)[i]));
            }
        }
        return out.flip();
    }

    private static ByteBuffer tag(ByteBuffer out, String name) {
        return out.put(name.getBytes(StandardCharsets.US_ASCII));
    }
}
