package io.kinema.jobs;

/**
 * How often workers have tried a job.
 *
 * @param begun   attempts that began; the present one has this number
 * @param crashed attempts in which the engine process died or hung
 * @param lost    attempts whose worker was never heard of again
 */
public record Attempts(int begun, int crashed, int lost) {
    /** Crashes after which a job is quarantined. */
    public static final int MOST_CRASHES = 2;
    /** Lost workers after which a job is quarantined: more than for crashes, because a power cut is seldom the job's fault. */
    public static final int MOST_LOST = 5;

    /** None yet. */
    public static final Attempts NONE = new Attempts(0, 0, 0);

    Attempts next() {
        return new Attempts(begun + 1, crashed, lost);
    }

    Attempts withCrash() {
        return new Attempts(begun, crashed + 1, lost);
    }

    Attempts withLoss() {
        return new Attempts(begun, crashed, lost + 1);
    }

    boolean tooMany() {
        return crashed >= MOST_CRASHES || lost >= MOST_LOST;
    }
}
