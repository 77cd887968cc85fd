package io.kinema.model.load;

import io.kinema.compute.TimeMark;
import java.util.ArrayList;
import java.util.List;

/**
 * Owns marks around waits and transfers until they are counted or it is closed; closing twice is harmless. Counting needs them
 * reached, so it is left to whoever has waited for the device.
 */
final class StagingTimes implements AutoCloseable {
    private final List<Marks> open = new ArrayList<>();
    private long blocks;
    private long bytes;
    private double staging;
    private double stall;

    private record Marks(TimeMark waitFrom, TimeMark waitTo, TimeMark bringFrom, TimeMark bringTo) {
        void close() {
            waitFrom.close();
            waitTo.close();
            bringFrom.close();
            bringTo.close();
        }
    }

    /** A block that arrived: the computation waited for it between two marks. Takes the arrival's marks over. */
    void add(TimeMark waitFrom, TimeMark waitTo, StagingRoom.Arrival<?> arrival) {
        blocks++;
        bytes += arrival.bytes();
        open.add(new Marks(waitFrom, waitTo, arrival.from(), arrival.to()));
    }

    StagingReport report(int residentBlocks) {
        for (Marks marks : open) {
            stall += marks.waitTo().secondsSince(marks.waitFrom());
            staging += marks.bringTo().secondsSince(marks.bringFrom());
        }
        close();
        return new StagingReport(residentBlocks, blocks, bytes, staging, stall);
    }

    @Override
    public void close() {
        open.forEach(Marks::close);
        open.clear();
    }
}
