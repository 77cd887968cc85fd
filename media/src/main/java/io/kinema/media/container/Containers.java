package io.kinema.media.container;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The containers and decoders that may be used, and how a container is known by its first bytes. */
final class Containers {

    /** MPEG-4 part 2 is not among them: a damaged stream can run into an assertion of its decoder, which ends the whole process. */
    private static final List<String> PICTURE_DECODERS = List.of("h264", "hevc", "vp8", "vp9", "libaom-av1", "mjpeg", "prores");
    private static final List<String> SOUND_DECODERS = List.of("aac", "mp3float", "mp3", "opus", "vorbis", "flac", "alac", "ac3", "pcm_u8",
            "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_f64le");

    /** MP4's kin that hold pictures; their tiles would pass for a video. */
    private static final List<String> PICTURE_BRANDS = List.of("hei", "hev", "mif1", "msf1", "avif", "avis");
    private static final int HEAD_BYTES = 16;

    /** FFmpeg's name of WebM. */
    static final String WEBM = "matroska";

    private Containers() {
    }

    /** All decoders as FFmpeg's whitelist wants them. */
    static String decoders() {
        return String.join(",", PICTURE_DECODERS) + "," + String.join(",", SOUND_DECODERS);
    }

    static boolean mayDecode(String decoder) {
        return PICTURE_DECODERS.contains(decoder) || SOUND_DECODERS.contains(decoder);
    }

    /**
     * FFmpeg's name of the container that {@code channel} holds; leaves the channel at its start.
     *
     * @throws BadMediaException if it is none that may be read
     */
    static String of(SeekableByteChannel channel, String name) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
        channel.position(0);
        while (head.hasRemaining() && channel.read(head) > 0) {
            // Short reads are allowed.
        }
        channel.position(0);
        String mark = new String(head.array(), 0, head.position(), StandardCharsets.ISO_8859_1);
        if (PICTURE_BRANDS.stream().anyMatch(brand -> mark.startsWith("ftyp" + brand, 4))) {
            throw new BadMediaException("The file " + name + " is a HEIC or AVIF picture, no video or sound; give MP4, MOV or WebM.");
        }
        return named(mark).orElseThrow(() -> new BadMediaException(
                "The file " + name + " is no video or sound that can be read; give MP4, MOV, WebM, WAV, MP3, AAC, FLAC or Ogg."));
    }

    private static Optional<String> named(String head) {
        return Arrays.stream(Container.values()).filter(c -> c.begins(head)).findFirst().map(c -> c.format);
    }

    private enum Container {
        MP4("mov", 4, "ftyp", "moov", "mdat", "wide", "free"),
        MATROSKA(Containers.WEBM, 0, "\u001a\u0045\u00df\u00a3"),
        WAV("wav", 8, "WAVE"),
        FLAC("flac", 0, "fLaC"),
        OGG("ogg", 0, "OggS"),
        MP3("mp3", 0, "ID3", "\u00ff\u00fb", "\u00ff\u00fa", "\u00ff\u00f3", "\u00ff\u00f2", "\u00ff\u00e3", "\u00ff\u00e2"),
        ADTS("aac", 0, "\u00ff\u00f1", "\u00ff\u00f0", "\u00ff\u00f9", "\u00ff\u00f8");

        private final String format;
        private final int at;
        private final List<String> marks;

        Container(String format, int at, String... marks) {
            this.format = format;
            this.at = at;
            this.marks = List.of(marks);
        }

        boolean begins(String head) {
            return marks.stream().anyMatch(mark -> head.startsWith(mark, at));
        }
    }
}
