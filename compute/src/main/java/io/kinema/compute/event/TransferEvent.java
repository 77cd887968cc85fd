package io.kinema.compute.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Bytes were copied from one device to another, the host included. */
@Name("kinema.Transfer")
@Label("Transfer")
@Category("Kinema")
@Description("A copy between devices. Its duration is the host's: of the enqueueing where copies run asynchronously.")
@StackTrace(false)
public final class TransferEvent extends Event {
    @Label("From")
    private String from;

    @Label("To")
    private String to;

    @Label("Bytes")
    @DataAmount
    private long bytes;

    /** Runs a copy as one event. */
    public static void around(String from, String to, long bytes, Runnable copy) {
        TransferEvent event = new TransferEvent();
        event.begin();
        copy.run();
        event.end();
        if (event.shouldCommit()) {
            event.from = from;
            event.to = to;
            event.bytes = bytes;
            event.commit();
        }
    }
}
