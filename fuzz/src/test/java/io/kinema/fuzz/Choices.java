package io.kinema.fuzz;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads values off an input, one after the other; zeros once it is used up. */
public final class Choices {
    private final ByteBuffer bytes;

    public Choices(byte[] input) {
        this.bytes = ByteBuffer.wrap(input);
    }

    public boolean yes() {
        return (octet() & 1) == 1;
    }

    /** 0 to {@code bound - 1}. */
    public int below(int bound) {
        return octet() % bound;
    }

    /** Any value; near the interesting ones more often than not. */
    public int integer() {
        return switch (below(4)) {
            case 0 -> octet();
            case 1 -> 32 * octet();
            case 2 -> -octet();
            default -> (int) longer();
        };
    }

    public long longer() {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | octet();
        }
        return value;
    }

    /** Any bit pattern, NaN and infinities with it, or a plain number. */
    public double number() {
        return yes() ? Double.longBitsToDouble(longer()) : integer() / 8.0;
    }

    /** Up to 255 bytes, whatever they spell. */
    public String text() {
        byte[] part = new byte[Math.min(octet(), bytes.remaining())];
        bytes.get(part);
        return new String(part, StandardCharsets.UTF_8);
    }

    private int octet() {
        return bytes.hasRemaining() ? bytes.get() & 0xff : 0;
    }
}
