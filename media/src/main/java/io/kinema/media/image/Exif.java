package io.kinema.media.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Finds the orientation tag in a block of EXIF data. */
final class Exif {

    private static final int ORIENTATION_TAG = 0x0112;
    private static final int SHORT_TYPE = 3;
    private static final int ENTRY_BYTES = 12;

    private Exif() {
    }

    /** The orientation, or upright if the block is damaged or has none. */
    static Orientation orientation(byte[] file, int from, int length) {
        int start = ImageHeader.startsWith(file, from, "Exif\0\0") ? 6 : 0;
        if (length - start < 8) {
            return Orientation.UPRIGHT;
        }
        ByteBuffer tiff = ByteBuffer.wrap(file, from + start, length - start).slice();
        if (tiff.get(0) != tiff.get(1) || tiff.get(0) != 'I' && tiff.get(0) != 'M') {
            return Orientation.UPRIGHT;
        }
        tiff.order(tiff.get(0) == 'I' ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        return directory(tiff, tiff.getInt(4));
    }

    private static Orientation directory(ByteBuffer tiff, int at) {
        if (at < 8 || at > tiff.limit() - 2) {
            return Orientation.UPRIGHT;
        }
        int entries = tiff.getShort(at) & 0xffff;
        for (int i = 0; i < entries; i++) {
            int entry = at + 2 + i * ENTRY_BYTES;
            if (entry > tiff.limit() - ENTRY_BYTES) {
                return Orientation.UPRIGHT;
            }
            if ((tiff.getShort(entry) & 0xffff) == ORIENTATION_TAG && tiff.getShort(entry + 2) == SHORT_TYPE) {
                return Orientation.of(tiff.getShort(entry + 8) & 0xffff);
            }
        }
        return Orientation.UPRIGHT;
    }
}
