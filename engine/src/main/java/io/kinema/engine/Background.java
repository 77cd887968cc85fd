package io.kinema.engine;

/** Runs what may finish while a request does other things, each on a daemon thread of its own. */
final class Background {
    private Background() {
    }

    static void run(Runnable work) {
        Thread.ofPlatform().daemon().name("kinema-background").start(work);
    }

    /** {@link #run} of something that whoever needs it will do again and then report: a failure here is not one yet. */
    static void attempt(Runnable work) {
        run(() -> {
            try {
                work.run();
            } catch (RuntimeException | LinkageError e) {
                // Left to the thread that needs the result.
            }
        });
    }
}
