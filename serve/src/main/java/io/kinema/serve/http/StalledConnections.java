package io.kinema.serve.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Owns a timer while its connector runs. Closes connections on which no request begins for too long, even when they send a byte of
 * one now and then: the idle timeout alone would let those live for ever.
 */
public final class StalledConnections extends AbstractLifeCycle implements Connection.Listener {
    private final Connector connector;
    private final long patienceNanos;
    private final Map<Connection, Seen> open = new ConcurrentHashMap<>();
    private volatile Scheduler.Task next = () -> false;

    /** @param messages requests that had begun when it was last looked at */
    private record Seen(long messages, long since) {
    }

    public StalledConnections(Connector connector, long patienceSeconds) {
        this.connector = connector;
        this.patienceNanos = TimeUnit.SECONDS.toNanos(patienceSeconds);
    }

    @Override
    public void onOpened(Connection connection) {
        open.put(connection, new Seen(0, System.nanoTime()));
    }

    @Override
    public void onClosed(Connection connection) {
        open.remove(connection);
    }

    @Override
    protected void doStart() {
        schedule();
    }

    @Override
    protected void doStop() {
        next.cancel();
    }

    private void schedule() {
        next = connector.getScheduler().schedule(this::look, Math.max(1, patienceNanos / 4), TimeUnit.NANOSECONDS);
    }

    private void look() {
        long now = System.nanoTime();
        open.forEach((connection, seen) -> {
            boolean works = connection.getMessagesIn() > connection.getMessagesOut();
            if (works || connection.getMessagesIn() != seen.messages()) {
                open.computeIfPresent(connection, (same, old) -> new Seen(connection.getMessagesIn(), now));
            } else if (now - seen.since() > patienceNanos) {
                connection.close();
            }
        });
        if (isRunning()) {
            schedule();
        }
    }
}
