package io.kinema.serve.fetch;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;

/** The bytes of a {@code data:} address (RFC 2397), in base64 or percent signs. */
public final class DataUrl {
    private static final int SHORTEST = "data:,".length();

    private DataUrl() {
    }

    public static boolean is(String text) {
        return text.length() >= SHORTEST - 1 && text.regionMatches(true, 0, "data:", 0, "data:".length());
    }

    /** @throws RefusedUrlException when it is malformed or larger than {@code mostBytes} */
    public static byte[] decode(String text, long mostBytes) {
        int comma = text.indexOf(',');
        if (comma < 0) {
            throw new RefusedUrlException("a data address without a comma, expected data:image/png;base64,...");
        }
        boolean base64 = text.substring(0, comma).toLowerCase(Locale.ROOT).endsWith(";base64");
        long most = base64 ? Math.ceilDiv(mostBytes, 3L) * 4 + 4 : mostBytes * 3;
        if (text.length() - comma - 1 > most) {
            throw tooLarge(mostBytes);
        }
        byte[] bytes = base64 ? base64(text.substring(comma + 1)) : percent(text.substring(comma + 1));
        if (bytes.length > mostBytes) {
            throw tooLarge(mostBytes);
        }
        return bytes;
    }

    private static byte[] base64(String text) {
        try {
            byte[] ascii = text.getBytes(StandardCharsets.ISO_8859_1);
            return (text.indexOf('-') >= 0 || text.indexOf('_') >= 0 ? Base64.getUrlDecoder() : Base64.getDecoder()).decode(ascii);
        } catch (IllegalArgumentException e) {
            throw new RefusedUrlException("a data address whose base64 is broken, expected whole base64");
        }
    }

    private static byte[] percent(String text) {
        byte[] out = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
                int low = high < 0 ? -1 : Character.digit(text.charAt(i + 2), 16);
                if (low < 0) {
                    throw new RefusedUrlException("a data address with a broken percent sign, expected %20 and the like");
                }
                out[length++] = (byte) (high << 4 | low);
                i += 2;
            } else if (c > 0x7f) {
                throw new RefusedUrlException("a data address with letters beyond ASCII, expected base64 or percent signs");
            } else {
                out[length++] = (byte) c;
            }
        }
        return java.util.Arrays.copyOf(out, length);
    }

    private static RefusedUrlException tooLarge(long mostBytes) {
        return new RefusedUrlException("a file larger than the " + mostBytes + " bytes allowed, expected a smaller one", true);
    }
}
