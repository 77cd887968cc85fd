package io.kinema.quality.compare;

import io.kinema.media.audio.Sound;
import io.kinema.quality.sound.Lag;
import io.kinema.quality.sound.LagFinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Function;

/** Measures lags of sound and pictures in stretches of {@value #STRETCH} seconds at the start, the middle and the end. */
final class SyncFinder {
    private static final double STRETCH = 4;
    private static final double MOST_LAG = 1;

    private final Optional<PictureComparison> pictures;
    private final SoundComparison sound;
    private final double laterSound;
    private final double laterPictures;

    private SyncFinder(Optional<PictureComparison> pictures, SoundComparison sound, double laterSound) {
        this.pictures = pictures;
        this.sound = sound;
        this.laterSound = laterSound;
        this.laterPictures = pictures.map(p -> p.candidateSpan().start() - p.referenceSpan().start()).orElse(0.0);
    }

    /** @param candidate when the candidate's whole sound is heard @param reference the same of the reference */
    static Sync find(Optional<PictureComparison> pictures, SoundComparison sound, Span candidate, Span reference) {
        SyncFinder finder = new SyncFinder(pictures, sound, candidate.start() - reference.start());
        double total = sound.referenceSound().seconds();
        List<Sync.Point> points = new ArrayList<>();
        if (total <= 1.5 * STRETCH) {
            points.add(finder.point(0, total));
        } else {
            points.add(finder.point(0, STRETCH));
            points.add(finder.point(total / 2 - STRETCH / 2, total / 2 + STRETCH / 2));
            points.add(finder.point(total - STRETCH, total));
        }
        return new Sync(points, finder.end(candidate, PictureComparison::candidateSpan), finder.end(reference, PictureComparison::referenceSpan));
    }

    private OptionalDouble end(Span heard, Function<PictureComparison, Span> side) {
        return pictures.map(side).filter(seen -> seen.seconds() > 0).stream().mapToDouble(seen -> 1000 * (heard.end() - seen.end())).findFirst();
    }

    private Sync.Point point(double from, double to) {
        Sound reference = sound.referenceSound();
        int rate = reference.sampleRate();
        Optional<Lag> lag = new LagFinder(rate, Math.min(MOST_LAG, Math.max(0.01, (to - from) / 2)))
                .find(sound.candidateSound(), reference, (int) (from * rate), Math.max(1, (int) ((to - from) * rate)));
        OptionalInt frames = pictures.map(p -> frames(p, from, to)).orElse(OptionalInt.empty());
        double pictureLag = laterPictures + (frames.isPresent() ? frames.getAsInt() / pictures.get().rate().orElseThrow() : 0);
        return new Sync.Point(from, to, lag.filter(Lag::trusted).stream().mapToDouble(l -> 1000 * (l.seconds() + laterSound)).findFirst(),
                lag.stream().mapToDouble(Lag::correlation).findFirst(), frames, 1000 * pictureLag);
    }

    private static OptionalInt frames(PictureComparison pictures, double from, double to) {
        return pictures.rate().isEmpty() ? OptionalInt.empty()
                : pictures.shift().in((int) Math.round(from * pictures.rate().getAsDouble()), (int) Math.round(to * pictures.rate().getAsDouble()));
    }
}
