package io.kinema.model.video;

import io.kinema.compute.Arrival;
import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.PageLockedMemory;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.NonFiniteException;
import io.kinema.weights.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Turns decoded frames into bytes (row, column, RGB), one picture at a time. Owns the memory in which a device's frames become bytes and
 * come to the host, until it is closed; closing twice is harmless. A frame with a value that is not finite is refused by
 * {@link NonFiniteException}: its bytes would look like a black picture.
 *
 * <p>Frames of a device are handed over one call later, while the device computes the next ones; {@link #finish()} hands over the last.
 */
public final class RgbFrameSink implements FrameSink, AutoCloseable {
    private static final int CHANNELS = 3;
    /** Pictures that several threads copy together: after the last chunk nothing else is left to do. */
    private static final int COPIED_AT_ONCE = 8;

    /** Takes one picture; the array is the taker's to keep. */
    @FunctionalInterface
    public interface Pictures {
        void picture(int index, byte[] rgb);
    }

    private final Backend backend;
    private final Pictures pictures;
    private final Workspace memory;
    private final Arena arena = Arena.ofShared();
    /** Two stretches of host memory, taken in turn. */
    private final MemorySegment[] rooms = {MemorySegment.NULL, MemorySegment.NULL};
    private int turn;
    private Optional<Flight> flight = Optional.empty();

    public RgbFrameSink(Backend backend, Pictures pictures) {
        this.backend = backend;
        this.pictures = pictures;
        this.memory = backend.workspace("pictures");
    }

    /** Pictures on their way to the host. */
    private record Flight(int first, int count, int bytesEach, MemorySegment room, Arrival levels, Arrival counts) {
        long countsAt() {
            return countsAt(count, bytesEach);
        }

        /** The counts of values that are not finite follow the pictures. */
        static long countsAt(int count, int bytesEach) {
            return Math.ceilDiv((long) count * bytesEach, Long.BYTES) * Long.BYTES;
        }

        boolean finite(int i) {
            return room.get(ValueLayout.JAVA_INT, countsAt() + (long) i * Integer.BYTES) == 0;
        }

        byte[] copy(int i) {
            return room.asSlice((long) i * bytesEach, bytesEach).toArray(ValueLayout.JAVA_BYTE);
        }

        void close() {
            levels.close();
            counts.close();
        }
    }

    @Override
    public void frames(int first, Tensor frames) {
        if (frames.device().kind() != Device.Kind.CPU) {
            Flight next = begin(first, frames);
            finish();
            flight = Optional.of(next);
            return;
        }
        int plane = frames.size(2) * frames.size(3);
        for (int i = 0; i < frames.size(1); i++) {
            byte[] rgb = new byte[CHANNELS * plane];
            require(first + i, ImageNetPixels.toBytes(frames.select(1, i), rgb));
            pictures.picture(first + i, rgb);
        }
    }

    /** Hands over what is still on its way. */
    public void finish() {
        flight.ifPresent(f -> {
            flight = Optional.empty();
            hand(f);
        });
    }

    private Flight begin(int first, Tensor frames) {
        int count = frames.size(1);
        int bytesEach = Math.multiplyExact(CHANNELS, frames.size(2) * frames.size(3));
        MemorySegment room = room(Flight.countsAt(count, bytesEach) + (long) count * Integer.BYTES);
        // Given back at once: whatever takes this memory next is computed after it was copied.
        try (Workspace.Frame _ = memory.frame()) {
            Tensor levels = memory.allocate(DType.U8, count, frames.size(2), frames.size(3), CHANNELS);
            Tensor counts = memory.allocate(DType.I32, count);
            ImageNetPixels.levels(backend, frames, levels, counts);
            Arrival arrival = backend.download(levels, room);
            return new Flight(first, count, bytesEach, room, arrival, backend.download(counts, room.asSlice(Flight.countsAt(count, bytesEach))));
        }
    }

    private MemorySegment room(long bytes) {
        turn = 1 - turn;
        if (rooms[turn].byteSize() < bytes) {
            rooms[turn] = backend.pageLockedMemory().orElse((PageLockedMemory) (size, owner) -> owner.allocate(size, Long.BYTES)).allocate(bytes, arena);
        }
        return rooms[turn];
    }

    private void hand(Flight f) {
        f.levels().await();
        f.counts().await();
        f.close();
        for (int from = 0; from < f.count(); from += COPIED_AT_ONCE) {
            List<byte[]> copies = IntStream.range(from, Math.min(f.count(), from + COPIED_AT_ONCE)).parallel().mapToObj(f::copy).toList();
            for (int i = 0; i < copies.size(); i++) {
                require(f.first() + from + i, f.finite(from + i));
                pictures.picture(f.first() + from + i, copies.get(i));
            }
        }
    }

    private static void require(int frame, boolean finite) {
        if (!finite) {
            throw new NonFiniteException("decoded video, frame " + frame
                    + ": got NaN or an infinity, expected finite pixels; use a precision plan with more range (fp32) or check the weights");
        }
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            flight.ifPresent(f -> {
                f.levels().await();
                f.counts().await();
                f.close();
            });
            flight = Optional.empty();
            memory.close();
            arena.close();
        }
    }
}
