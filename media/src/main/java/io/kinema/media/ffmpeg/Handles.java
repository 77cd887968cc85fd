package io.kinema.media.ffmpeg;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;

/** Owns native handles and closes them, the last one first; closing twice is harmless. */
public final class Handles implements AutoCloseable {

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Builds an owner from handles; if that fails, those already made are closed. */
    public static <T> T build(Function<Handles, T> owner) {
        Handles handles = new Handles();
        try {
            return owner.apply(handles);
        } catch (RuntimeException | Error e) {
            handles.close();
            throw e;
        }
    }

    /** Takes a handle over. */
    public <H extends AutoCloseable> H add(H handle) {
        open.push(handle);
        return handle;
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("A native handle did not close.", e);
            }
        }
    }
}
