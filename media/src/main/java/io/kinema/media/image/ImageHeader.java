package io.kinema.media.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/**
 * What a picture file says about itself before it is decoded.
 *
 * @param format decided by content
 * @param width stored pixels, before the orientation is applied
 * @param height stored pixels, before the orientation is applied
 * @param orientation how to turn the stored pixels upright
 */
public record ImageHeader(ImageFormat format, long width, long height, Orientation orientation) {

    private static final List<String> HEIF_BRANDS = List.of("hei", "hev", "mif1", "msf1", "avi");

    /** Reads the header of {@code file}; empty if it is no PNG, JPEG or WebP, or its header is incomplete. */
    static Optional<ImageHeader> read(byte[] file) {
        if (startsWith(file, 0, "\u0089PNG\r\n\u001a\n")) {
            return png(file);
        }
        if (startsWith(file, 0, "\u00ff\u00d8\u00ff")) {
            return JpegHeader.read(file).map(j -> new ImageHeader(ImageFormat.JPEG, j.width(), j.height(), j.orientation()));
        }
        if (startsWith(file, 0, "RIFF") && startsWith(file, 8, "WEBP")) {
            return webp(file);
        }
        return Optional.empty();
    }

    /** Whether {@code file} is a HEIF container, by its major brand: what phones store and call HEIC, or AVIF. */
    static boolean isHeif(byte[] file) {
        return startsWith(file, 4, "ftyp") && HEIF_BRANDS.stream().anyMatch(brand -> startsWith(file, 8, brand));
    }

    private static Optional<ImageHeader> png(byte[] file) {
        ByteBuffer bytes = ByteBuffer.wrap(file);
        if (file.length < 33 || !startsWith(file, 12, "IHDR")) {
            return Optional.empty();
        }
        Orientation orientation = Orientation.UPRIGHT;
        int at = 8;
        while (at + 12L <= file.length) {
            long length = bytes.getInt(at) & 0xffffffffL;
            if (startsWith(file, at + 4, "IDAT")) {
                break;
            }
            if (startsWith(file, at + 4, "eXIf") && at + 8 + length <= file.length) {
                orientation = Exif.orientation(file, at + 8, (int) length);
            }
            at = (int) Math.min(Integer.MAX_VALUE, at + 12 + length);
        }
        return Optional.of(new ImageHeader(ImageFormat.PNG, bytes.getInt(16) & 0xffffffffL, bytes.getInt(20) & 0xffffffffL,
                orientation));
    }

    /** RIFF chunks: the size is in VP8X if there is one, else in the single VP8 (lossy) or VP8L (lossless) chunk. */
    private static Optional<ImageHeader> webp(byte[] file) {
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        Orientation orientation = Orientation.UPRIGHT;
        long width = 0;
        long height = 0;
        long at = 12;
        while (at + 18 <= file.length) {
            int chunk = (int) at;
            int data = chunk + 8;
            long length = bytes.getInt(chunk + 4) & 0xffffffffL;
            if (width == 0 && startsWith(file, chunk, "VP8X")) {
                width = 1 + (bytes.getInt(data + 4) & 0xffffff);
                height = 1 + (bytes.getInt(data + 6) >>> 8);
            } else if (width == 0 && startsWith(file, chunk, "VP8 ")) {
                width = bytes.getShort(data + 6) & 0x3fff;
                height = bytes.getShort(data + 8) & 0x3fff;
            } else if (width == 0 && startsWith(file, chunk, "VP8L")) {
                int packed = bytes.getInt(data + 1);
                width = 1 + (packed & 0x3fff);
                height = 1 + (packed >>> 14 & 0x3fff);
            } else if (startsWith(file, chunk, "EXIF") && data + length <= file.length) {
                orientation = Exif.orientation(file, data, (int) length);
            }
            at = data + length + (length & 1);
        }
        return width == 0 ? Optional.empty() : Optional.of(new ImageHeader(ImageFormat.WEBP, width, height, orientation));
    }

    /** Whether {@code file} has these Latin-1 characters at {@code at}. */
    static boolean startsWith(byte[] file, int at, String text) {
        if (at + text.length() > file.length) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if ((file[at + i] & 0xff) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
