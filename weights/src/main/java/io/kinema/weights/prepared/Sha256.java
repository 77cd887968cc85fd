package io.kinema.weights.prepared;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Digests as hexadecimal text. */
final class Sha256 {
    static final int HEX_LENGTH = 64;
    private static final long CHUNK = 1 << 26;

    private Sha256() {
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(digest().digest(bytes));
    }

    /** Of native memory of any size. */
    static String hex(MemorySegment bytes) {
        return hex(bytes, 0);
    }

    /** Of native memory and so many zeros after it. */
    static String hex(MemorySegment bytes, int zeros) {
        MessageDigest digest = digest();
        for (long at = 0; at < bytes.byteSize(); at += CHUNK) {
            digest.update(bytes.asSlice(at, Math.min(CHUNK, bytes.byteSize() - at)).asByteBuffer());
        }
        digest.update(new byte[zeros]);
        return HexFormat.of().formatHex(digest.digest());
    }

    static boolean isHex(String text) {
        return text.length() == HEX_LENGTH && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
