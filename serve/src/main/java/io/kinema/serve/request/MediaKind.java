package io.kinema.serve.request;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What a file is, by its first bytes; what a client or a server says it is counts for nothing. */
enum MediaKind {
    PICTURE("a picture", 30L << 20),
    VIDEO("a video", 50L << 20),
    SOUND("a sound", 15L << 20),
    LATENTS("latents", 50L << 20);

    /** How many first bytes {@link #of} looks at. */
    static final int HEAD = 16;
    /** The largest file of any kind. */
    static final long MOST_BYTES = 50L << 20;

    private final String label;
    private final long mostBytes;

    MediaKind(String label, long mostBytes) {
        this.label = label;
        this.mostBytes = mostBytes;
    }

    /** {@code a picture}. */
    String label() {
        return label;
    }

    long mostBytes() {
        return mostBytes;
    }

    /** The kind of file that begins with these bytes, or empty. */
    static Optional<MediaKind> of(byte[] head) {
        String text = new String(head, StandardCharsets.ISO_8859_1);
        if (text.startsWith("\u0089PNG") || text.startsWith("\u00ff\u00d8\u00ff") || riff(text, "WEBP") || text.startsWith("GIF8")) {
            return Optional.of(PICTURE);
        }
        if (text.length() >= 12 && text.startsWith("ftyp", 4)) {
            return Optional.of(switch (text.substring(8, 12)) {
                case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis" -> PICTURE;
                case "M4A ", "M4B " -> SOUND;
                default -> VIDEO;
            });
        }
        if (text.startsWith("\u001a\u0045\u00df\u00a3") || riff(text, "AVI ") || text.startsWith("moov", 4) || text.startsWith("mdat", 4)
                || text.startsWith("wide", 4)) {
            return Optional.of(VIDEO);
        }
        if (riff(text, "WAVE") || text.startsWith("ID3") || text.startsWith("OggS") || text.startsWith("fLaC") || frameSync(head)) {
            return Optional.of(SOUND);
        }
        // Safetensors: the length of a header that fits, then its brace.
        if (head.length >= 9 && head[8] == '{' && head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0) {
            return Optional.of(LATENTS);
        }
        return Optional.empty();
    }

    private static boolean riff(String text, String form) {
        return text.startsWith("RIFF") && text.startsWith(form, 8);
    }

    /** MPEG audio and AAC begin with eleven set bits. */
    private static boolean frameSync(byte[] head) {
        return head.length >= 2 && (head[0] & 0xff) == 0xff && (head[1] & 0xe0) == 0xe0;
    }
}
