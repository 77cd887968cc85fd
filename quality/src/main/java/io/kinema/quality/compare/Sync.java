package io.kinema.quality.compare;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * Whether sound and pictures of the candidate run together as the reference's do. Lags are those on the files' clocks: what a container
 * delays counts with what is late in the samples and frames themselves.
 *
 * @param points       measured at the start, the middle and the end; one point for a short clip
 * @param candidateEnd milliseconds by which the candidate's sound outlasts its pictures; negative when it ends first
 * @param referenceEnd the same of the reference
 */
public record Sync(List<Point> points, OptionalDouble candidateEnd, OptionalDouble referenceEnd) {
    public Sync {
        points = List.copyOf(points);
    }

    /**
     * One stretch of time.
     *
     * @param from        its start in seconds
     * @param to          its end
     * @param soundLag    milliseconds by which the candidate's sound is late; empty where the two sounds are silent or too unlike
     * @param correlation of the two sounds there
     * @param frames      frames by which its pictures are late; empty where they stand still or are too unlike
     * @param pictureLag  milliseconds by which they are late; frames that tell nothing count as not late
     */
    public record Point(double from, double to, OptionalDouble soundLag, OptionalDouble correlation, OptionalInt frames, double pictureLag) {
        /** Milliseconds by which the sound is later than the pictures, against the reference. */
        public OptionalDouble drift() {
            return soundLag.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(soundLag.getAsDouble() - pictureLag);
        }
    }

    /** The drift of largest magnitude; empty when no point has one. */
    public Optional<Double> worstDrift() {
        return points.stream().map(Point::drift).filter(OptionalDouble::isPresent).map(OptionalDouble::getAsDouble)
                .reduce((a, b) -> Math.abs(b) > Math.abs(a) ? b : a);
    }
}
