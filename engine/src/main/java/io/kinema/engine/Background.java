package io.kinema.engine;

/** Runs what may finish while a request does other things, each on a daemon thread of its own. */
final class Background {
    private Background() {
    }

    static void run(Runnable work) {
        Thread.ofPlatform().daemon().name("kinema-background").start(work);
    }
}
