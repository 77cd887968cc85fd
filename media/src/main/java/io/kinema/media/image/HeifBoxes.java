package io.kinema.media.image;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The nested boxes of ISO/IEC 14496-12. A box that does not fit into its parent ends with {@link BufferUnderflowException}. */
final class HeifBoxes {

    /** More boxes on one level than any camera writes. */
    private static final int MOST_BOXES = 8192;

    private HeifBoxes() {
    }

    /**
     * One box.
     *
     * @param type four characters
     * @param body what follows its header; read-only, with a position of its own
     */
    record Box(String type, ByteBuffer body) {
        /** The version of a full box, and its flags behind; moves past both. */
        int version() {
            return body.getInt() >>> 24;
        }
    }

    /** The boxes from a buffer's position to its end. */
    static List<Box> in(ByteBuffer parent) {
        List<Box> boxes = new ArrayList<>();
        ByteBuffer rest = parent.slice();
        while (rest.remaining() >= 8 && boxes.size() < MOST_BOXES) {
            long size = rest.getInt() & 0xffffffffL;
            String type = characters(rest);
            long header = 8;
            if (size == 1) {
                size = rest.getLong();
                header = 16;
            } else if (size == 0) {
                size = header + rest.remaining();
            }
            long length = size - header;
            if (length < 0 || length > rest.remaining()) {
                throw new BufferUnderflowException();
            }
            boxes.add(new Box(type, rest.slice(rest.position(), (int) length).asReadOnlyBuffer()));
            rest.position(rest.position() + (int) length);
        }
        return boxes;
    }

    /** The first box of a type. */
    static Optional<Box> first(List<Box> boxes, String type) {
        return boxes.stream().filter(box -> box.type().equals(type)).findFirst();
    }

    /** Four characters; moves past them. */
    static String characters(ByteBuffer from) {
        byte[] type = new byte[4];
        from.get(type);
        return new String(type, StandardCharsets.ISO_8859_1);
    }

    /** An unsigned number of 0, 2, 4 or 8 bytes; moves past it. Beyond 2^63 it is negative. */
    static long number(ByteBuffer from, int bytes) {
        return switch (bytes) {
            case 0 -> 0;
            case 2 -> from.getShort() & 0xffff;
            case 4 -> from.getInt() & 0xffffffffL;
            case 8 -> from.getLong();
            default -> throw new BufferUnderflowException();
        };
    }
}
