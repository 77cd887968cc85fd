package io.kinema.quality.compare;

import io.kinema.media.audio.Sound;
import io.kinema.quality.sound.Lag;
import io.kinema.quality.sound.LagFinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.ToLongFunction;

/** Measures lags of sound and pictures in stretches of {@value #STRETCH} seconds at the start, the middle and the end. */
final class SyncFinder {
    private static final double STRETCH = 4;
    private static final double MOST_LAG = 1;

    private final Optional<PictureComparison> pictures;
    private final SoundComparison sound;

    private SyncFinder(Optional<PictureComparison> pictures, SoundComparison sound) {
        this.pictures = pictures;
        this.sound = sound;
    }

    /** @param candidateSeconds the candidate's whole sound @param referenceSeconds the reference's */
    static Sync find(Optional<PictureComparison> pictures, SoundComparison sound, double candidateSeconds, double referenceSeconds) {
        SyncFinder finder = new SyncFinder(pictures, sound);
        double total = sound.referenceSound().seconds();
        List<Sync.Point> points = new ArrayList<>();
        if (total <= 1.5 * STRETCH) {
            points.add(finder.point(0, total));
        } else {
            points.add(finder.point(0, STRETCH));
            points.add(finder.point(total / 2 - STRETCH / 2, total / 2 + STRETCH / 2));
            points.add(finder.point(total - STRETCH, total));
        }
        return new Sync(points, finder.end(candidateSeconds, PictureComparison::candidateFrames),
                finder.end(referenceSeconds, PictureComparison::referenceFrames));
    }

    private OptionalDouble end(double soundSeconds, ToLongFunction<PictureComparison> frames) {
        return pictures.isPresent() && pictures.get().rate().isPresent()
                ? OptionalDouble.of(1000 * (soundSeconds - frames.applyAsLong(pictures.get()) / pictures.get().rate().getAsDouble())) : OptionalDouble.empty();
    }

    private Sync.Point point(double from, double to) {
        Sound reference = sound.referenceSound();
        int rate = reference.sampleRate();
        Optional<Lag> lag = new LagFinder(rate, Math.min(MOST_LAG, Math.max(0.01, (to - from) / 2)))
                .find(sound.candidateSound(), reference, (int) (from * rate), Math.max(1, (int) ((to - from) * rate)));
        OptionalInt frames = pictures.map(p -> frames(p, from, to)).orElse(OptionalInt.empty());
        OptionalDouble pictureLag = frames.isPresent() ? OptionalDouble.of(1000 * frames.getAsInt() / pictures.get().rate().orElseThrow()) : OptionalDouble.empty();
        return new Sync.Point(from, to, lag.filter(Lag::trusted).map(l -> OptionalDouble.of(1000 * l.seconds())).orElse(OptionalDouble.empty()),
                lag.map(l -> OptionalDouble.of(l.correlation())).orElse(OptionalDouble.empty()), frames, pictureLag);
    }

    private static OptionalInt frames(PictureComparison pictures, double from, double to) {
        return pictures.rate().isEmpty() ? OptionalInt.empty()
                : pictures.shift().in((int) Math.round(from * pictures.rate().getAsDouble()), (int) Math.round(to * pictures.rate().getAsDouble()));
    }
}
