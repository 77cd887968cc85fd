package io.kinema.compute.event;

import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A rank took part in an operation of several ranks. */
@Name("kinema.Collective")
@Label("Collective")
@Category("Kinema")
@Description("An all-reduce, reduce-scatter, all-gather or the like, as one rank saw it.")
@StackTrace(false)
public final class CollectiveEvent extends Event {
    @Label("Operation")
    private String operation;

    @Label("Implementation")
    private String implementation;

    @Label("Rank")
    private int rank;

    @Label("Ranks")
    private int ranks;

    @Label("Bytes")
    @DataAmount
    private long bytes;

    /**
     * Runs a collective operation as one event.
     *
     * @param operation      {@code all-reduce}, ...
     * @param implementation {@code native}, {@code peer}, ...
     * @param bytes          of this rank's input
     */
    public static <T> T around(String operation, String implementation, int rank, int ranks, long bytes, Supplier<T> work) {
        CollectiveEvent event = new CollectiveEvent();
        event.begin();
        T result = work.get();
        event.end();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.implementation = implementation;
            event.rank = rank;
            event.ranks = ranks;
            event.bytes = bytes;
            event.commit();
        }
        return result;
    }
}
