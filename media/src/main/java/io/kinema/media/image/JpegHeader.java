package io.kinema.media.image;

import java.io.ByteArrayOutputStream;
import java.util.Optional;

/**
 * What the segments of a JPEG file up to its pixels say.
 *
 * @param width stored pixels
 * @param height stored pixels
 * @param components 1 gray, 3 colour, 4 CMYK or YCCK
 * @param adobeTransform colour transform of the Adobe segment, -1 without one
 * @param orientation from the EXIF segment
 * @param scans passes over the pixels: 1 if baseline, about ten if progressive
 * @param ended whether an end-of-image marker follows; compressed pixels never contain one
 */
record JpegHeader(int width, int height, int components, int adobeTransform, Orientation orientation, int scans, boolean ended) {

    /** Adobe's transform of four-component files whose first three components are luma and chroma. */
    static final int YCCK = 2;

    private static final int APP1 = 0xe1;
    private static final int APP2 = 0xe2;
    private static final int APP14 = 0xee;
    private static final int START_OF_SCAN = 0xffda;
    private static final int END_OF_IMAGE = 0xffd9;

    /** Reads the segments; empty if they are damaged or end before the pixels. */
    static Optional<JpegHeader> read(byte[] file) {
        Orientation orientation = Orientation.UPRIGHT;
        int transform = -1;
        int at = 2;
        while (at + 9 < file.length && (file[at] & 0xff) == 0xff) {
            int marker = file[at + 1] & 0xff;
            if (marker == 0xff) {
                at++;
                continue;
            }
            int length = u16(file, at + 2);
            boolean whole = at + 2L + length <= file.length;
            if (isFrame(marker)) {
                return Optional.of(new JpegHeader(u16(file, at + 7), u16(file, at + 5), file[at + 9] & 0xff, transform, orientation,
                        count(file, at, START_OF_SCAN), endsAfter(file, at)));
            }
            if (marker == APP1 && whole && length > 8 && ImageHeader.startsWith(file, at + 4, "Exif\0\0")) {
                orientation = Exif.orientation(file, at + 10, length - 8);
            }
            if (marker == APP14 && whole && length >= 14 && ImageHeader.startsWith(file, at + 4, "Adobe")) {
                transform = file[at + 15] & 0xff;
            }
            at += 2 + length;
        }
        return Optional.empty();
    }

    /** The same file without its colour profile, which a decoder would otherwise apply. */
    static byte[] withoutProfile(byte[] file) {
        ByteArrayOutputStream kept = new ByteArrayOutputStream(file.length);
        kept.write(file, 0, 2);
        int at = 2;
        while (at + 4 <= file.length && (file[at] & 0xff) == 0xff && !isFrame(file[at + 1] & 0xff)) {
            int end = Math.min(file.length, at + ((file[at + 1] & 0xff) == 0xff ? 1 : 2 + u16(file, at + 2)));
            if ((file[at + 1] & 0xff) != APP2 || !ImageHeader.startsWith(file, at + 4, "ICC_PROFILE")) {
                kept.write(file, at, end - at);
            }
            at = end;
        }
        kept.write(file, at, file.length - at);
        return kept.toByteArray();
    }

    /** Compressed pixels never contain a marker; a table may, by chance. */
    private static int count(byte[] file, int from, int marker) {
        int count = 0;
        for (int at = from; at < file.length - 1; at++) {
            count += u16(file, at) == marker ? 1 : 0;
        }
        return count;
    }

    private static boolean endsAfter(byte[] file, int from) {
        for (int at = file.length - 2; at > from; at--) {
            if (u16(file, at) == END_OF_IMAGE) {
                return true;
            }
        }
        return false;
    }

    /** Start of frame: 0xC0..0xCF except the Huffman table, the extension and the arithmetic table. */
    private static boolean isFrame(int marker) {
        return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    }

    private static int u16(byte[] file, int at) {
        return (file[at] & 0xff) << 8 | file[at + 1] & 0xff;
    }
}
