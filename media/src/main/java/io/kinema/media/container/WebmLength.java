package io.kinema.media.container;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;

/**
 * Whether a WebM file is as long as it says. FFmpeg takes one that was cut off for one that ends early; its second top-level
 * element, the segment, tells how many bytes it has, unless it was recorded live.
 */
final class WebmLength {

    private static final int SEGMENT = 0x18538067;
    private static final int HEAD_BYTES = 4096;
    private static final int ID_BYTES = 4;

    private WebmLength() {
    }

    /** Leaves the channel at its start. @throws BadMediaException if bytes are missing */
    static void requireWhole(SeekableByteChannel channel, String name) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
        channel.position(0);
        while (head.hasRemaining() && channel.read(head) > 0) {
            // Short reads are allowed.
        }
        channel.position(0);
        long end = end(head.flip());
        if (end > channel.size()) {
            throw new BadMediaException("The file " + name + " is cut off: " + channel.size() + " of " + end + " bytes are there; export it again.");
        }
    }

    /** Where the segment ends; 0 if it does not say or is not where it should be. */
    private static long end(ByteBuffer head) {
        if (head.remaining() < ID_BYTES + 1) {
            return 0;
        }
        head.position(ID_BYTES);
        long documentType = number(head);
        if (documentType < 0 || documentType > head.remaining()) {
            return 0;
        }
        head.position(head.position() + (int) documentType);
        if (head.remaining() < ID_BYTES + Long.BYTES || head.getInt() != SEGMENT) {
            return 0;
        }
        long size = number(head);
        return size < 0 ? 0 : head.position() + size;
    }

    /** EBML's number of one to eight bytes: as many zero bits as bytes follow, a one, the value; -1 if all its bits are one. */
    private static long number(ByteBuffer bytes) {
        int first = bytes.get() & 0xff;
        int more = Integer.numberOfLeadingZeros(first) - 24;
        if (more > 7 || more > bytes.remaining()) {
            return -1;
        }
        long value = first & (0x7f >> more);
        long unknown = 0x7f >> more;
        for (int i = 0; i < more; i++) {
            value = value << 8 | bytes.get() & 0xff;
            unknown = unknown << 8 | 0xff;
        }
        return value == unknown ? -1 : value;
    }
}
