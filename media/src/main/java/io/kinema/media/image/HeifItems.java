package io.kinema.media.image;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The items of a HEIF file: what its {@code meta} box says of them (ISO/IEC 14496-12, 8.11, and 23008-12, 9.3). Damage ends with
 * {@link BufferUnderflowException}. FFmpeg's own reader of these boxes is not used: damaged ones can end the process there.
 */
final class HeifItems {

    private static final int ESSENTIAL_WIDE = 0x8000;
    private static final int ESSENTIAL = 0x80;

    /**
     * One property of an item.
     *
     * @param essential whether a reader that does not know it must not show the item
     */
    record Property(HeifBoxes.Box box, boolean essential) {
    }

    private final ByteBuffer file;
    private final Map<Long, String> types = new HashMap<>();
    private final Map<Long, List<Property>> properties = new HashMap<>();
    private final Map<Long, List<Long>> parts = new HashMap<>();
    private final Map<Long, Location> locations = new HashMap<>();
    private ByteBuffer itemData = ByteBuffer.allocate(0);
    private long primary;

    private record Location(int construction, List<long[]> extents) {
    }

    private HeifItems(byte[] file) {
        this.file = ByteBuffer.wrap(file).asReadOnlyBuffer();
    }

    /** Reads the boxes of a whole file; empty when it has no items. */
    static Optional<HeifItems> of(byte[] file) {
        HeifItems items = new HeifItems(file);
        return HeifBoxes.first(HeifBoxes.in(items.file), "meta").map(meta -> {
            meta.version();
            items.read(HeifBoxes.in(meta.body()));
            return items;
        });
    }

    /** The identifier of the picture to show. */
    long primary() {
        return primary;
    }

    /** An item's type, such as {@code hvc1}, {@code av01} or {@code grid}; empty text when there is no such item. */
    String type(long item) {
        return types.getOrDefault(item, "");
    }

    /** An item's properties, in the order in which they apply. */
    List<Property> properties(long item) {
        return properties.getOrDefault(item, List.of());
    }

    /** The items that a derived item is made of, in order. */
    List<Long> parts(long item) {
        return parts.getOrDefault(item, List.of());
    }

    /** An item's bytes. */
    ByteBuffer data(long item) {
        Location location = Optional.ofNullable(locations.get(item)).orElseThrow(BufferUnderflowException::new);
        ByteBuffer source = switch (location.construction()) {
            case 0 -> file;
            case 1 -> itemData;
            default -> throw new BufferUnderflowException();
        };
        long total = 0;
        for (long[] extent : location.extents()) {
            if (extent[0] < 0 || extent[1] < 0 || extent[0] > source.capacity() - extent[1]) {
                throw new BufferUnderflowException();
            }
            total += extent[1];
        }
        if (total > source.capacity()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer data = ByteBuffer.allocate((int) total);
        location.extents().forEach(extent -> data.put(source.slice((int) extent[0], (int) extent[1])));
        return data.flip();
    }

    private void read(List<HeifBoxes.Box> meta) {
        HeifBoxes.first(meta, "pitm").ifPresent(box -> primary = HeifBoxes.number(box.body(), box.version() == 0 ? 2 : 4));
        HeifBoxes.first(meta, "idat").ifPresent(box -> itemData = box.body());
        HeifBoxes.first(meta, "iinf").ifPresent(this::readInfos);
        HeifBoxes.first(meta, "iloc").ifPresent(this::readLocations);
        HeifBoxes.first(meta, "iref").ifPresent(this::readReferences);
        HeifBoxes.first(meta, "iprp").ifPresent(box -> readProperties(HeifBoxes.in(box.body())));
    }

    private void readInfos(HeifBoxes.Box infos) {
        HeifBoxes.number(infos.body(), infos.version() == 0 ? 2 : 4);
        for (HeifBoxes.Box info : HeifBoxes.in(infos.body())) {
            int version = info.version();
            if (info.type().equals("infe") && version >= 2) {
                long item = HeifBoxes.number(info.body(), version == 2 ? 2 : 4);
                info.body().getShort();
                types.put(item, HeifBoxes.characters(info.body()));
            }
        }
    }

    private void readLocations(HeifBoxes.Box box) {
        int version = box.version();
        ByteBuffer body = box.body();
        int sizes = body.getShort();
        int idBytes = version < 2 ? 2 : 4;
        for (long left = HeifBoxes.number(body, idBytes); left > 0; left--) {
            long item = HeifBoxes.number(body, idBytes);
            int construction = version == 0 ? 0 : body.getShort() & 0xf;
            int reference = body.getShort();
            long base = HeifBoxes.number(body, sizes >> 4 & 0xf);
            List<long[]> extents = new ArrayList<>();
            for (int extent = body.getShort() & 0xffff; extent > 0; extent--) {
                HeifBoxes.number(body, version == 0 ? 0 : sizes & 0xf);
                long offset = base + HeifBoxes.number(body, sizes >> 12 & 0xf);
                extents.add(new long[] {offset, HeifBoxes.number(body, sizes >> 8 & 0xf)});
            }
            if (reference == 0) {
                locations.put(item, new Location(construction, extents));
            }
        }
    }

    private void readReferences(HeifBoxes.Box box) {
        int idBytes = box.version() == 0 ? 2 : 4;
        for (HeifBoxes.Box reference : HeifBoxes.in(box.body())) {
            if (reference.type().equals("dimg")) {
                long from = HeifBoxes.number(reference.body(), idBytes);
                List<Long> to = new ArrayList<>();
                for (int count = reference.body().getShort() & 0xffff; count > 0; count--) {
                    to.add(HeifBoxes.number(reference.body(), idBytes));
                }
                parts.put(from, to);
            }
        }
    }

    private void readProperties(List<HeifBoxes.Box> boxes) {
        List<HeifBoxes.Box> all = HeifBoxes.first(boxes, "ipco").map(box -> HeifBoxes.in(box.body())).orElse(List.of());
        for (HeifBoxes.Box box : boxes) {
            if (box.type().equals("ipma")) {
                readAssociations(box.body(), all);
            }
        }
    }

    private void readAssociations(ByteBuffer body, List<HeifBoxes.Box> all) {
        int head = body.getInt();
        int idBytes = head >>> 24 == 0 ? 2 : 4;
        boolean wide = (head & 1) != 0;
        for (long left = HeifBoxes.number(body, 4); left > 0; left--) {
            long item = HeifBoxes.number(body, idBytes);
            List<Property> of = new ArrayList<>();
            for (int count = body.get() & 0xff; count > 0; count--) {
                int association = wide ? body.getShort() & 0xffff : body.get() & 0xff;
                boolean essential = (association & (wide ? ESSENTIAL_WIDE : ESSENTIAL)) != 0;
                int index = association & (wide ? ESSENTIAL_WIDE - 1 : ESSENTIAL - 1);
                if (index > all.size()) {
                    throw new BufferUnderflowException();
                }
                if (index > 0) {
                    HeifBoxes.Box property = all.get(index - 1);
                    of.add(new Property(new HeifBoxes.Box(property.type(), property.body().duplicate()), essential));
                }
            }
            properties.put(item, of);
        }
    }
}
