package io.kinema.quality.compare;

import io.kinema.media.BadMediaException;
import io.kinema.media.image.RgbImage;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.picture.FrameComparison.Score;
import io.kinema.quality.picture.FrameShift;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;

/**
 * Owns the threads that compare two streams of frames: while one pair is scored and watched, the next is decoded. At most two
 * pairs are in memory, besides those kept for a report, and each number is made by one thread, so that threads change no bit.
 * Closing twice is harmless.
 */
final class PictureComparer implements AutoCloseable {
    private static final double RATE_TOLERANCE = 1e-3;
    /** Decode two, score, watch two: no more is ever to do at once. */
    private static final int MOST_THREADS = 5;

    private final ExecutorService threads = Executors.newFixedThreadPool(Math.clamp(Runtime.getRuntime().availableProcessors(), 2, MOST_THREADS), task -> {
        Thread thread = new Thread(task, "kinema-compare");
        thread.setDaemon(true);
        return thread;
    });
    private final ComparisonOptions options;
    private final Differences differences;
    private final IntConsumer framesDone;

    PictureComparer(ComparisonOptions options, Differences differences, IntConsumer framesDone) {
        this.options = options;
        this.differences = differences;
        this.framesDone = framesDone;
    }

    PictureComparison compare(PictureInput candidate, PictureInput reference) {
        boolean cut = requireOneCount(candidate, reference);
        try (FrameSource a = candidate.open(); FrameSource b = reference.open()) {
            requireOneRate(a.rate(), b.rate());
            RgbImage x = first(a, candidate);
            RgbImage y = first(b, reference);
            if (x.width() != y.width() || x.height() != y.height()) {
                throw new BadMediaException("The candidate's frames are " + x.width() + "x" + x.height() + " and the reference's " + y.width() + "x" + y.height()
                        + "; only frames of one size are compared: make both at one size.");
            }
            Run run = new Run(a, b, x, y, reference.about());
            run.toTheEnd(cut);
            OptionalDouble rate = b.rate().isPresent() ? b.rate() : a.rate();
            return new PictureComparison(candidate.text(), reference.text(), y.width(), y.height(), rate, span(candidate, a, run, rate), span(reference, b, run, rate),
                    run.metrics, run.shift, run.watchA.faults(), run.watchB.faults(), options.pictures() ? run.kept.frames() : List.of());
        }
    }

    private static Span span(PictureInput input, FrameSource source, Run run, OptionalDouble rate) {
        long frames = input.exact() ? input.about() : run.metrics.frames();
        return new Span(source.start(), rate.isPresent() ? frames / rate.getAsDouble() : 0);
    }

    private static RgbImage first(FrameSource source, PictureInput input) {
        return source.next().orElseThrow(() -> new BadMediaException("There is no picture in " + input.text() + "."));
    }

    /** Whether the counts are known, differ, and the common part was asked for. */
    private boolean requireOneCount(PictureInput candidate, PictureInput reference) {
        boolean differ = candidate.exact() && reference.exact() && candidate.about() != reference.about();
        if (differ) {
            differences.differ("The candidate has " + candidate.about() + " frames and the reference " + reference.about(),
                    "the first " + Math.min(candidate.about(), reference.about()) + " of each were compared");
        }
        return differ;
    }

    private void requireOneRate(OptionalDouble candidate, OptionalDouble reference) {
        if (candidate.isPresent() && reference.isPresent()
                && Math.abs(candidate.getAsDouble() - reference.getAsDouble()) > RATE_TOLERANCE * reference.getAsDouble()) {
            differences.differ(String.format(Locale.ROOT, "The candidate shows %.3f frames a second and the reference %.3f", candidate.getAsDouble(), reference.getAsDouble()),
                    "frames were compared by number, whatever their times");
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** One pass over both streams. */
    private final class Run {
        private final FrameSource a;
        private final FrameSource b;
        private final FrameComparison metrics = new FrameComparison();
        private final FrameShift shift = new FrameShift();
        private final PictureWatch watchA;
        private final PictureWatch watchB;
        private final KeptFrames kept;
        private Optional<RgbImage> nextA;
        private Optional<RgbImage> nextB;

        Run(FrameSource a, FrameSource b, RgbImage firstA, RgbImage firstB, long expected) {
            this.a = a;
            this.b = b;
            this.nextA = Optional.of(firstA);
            this.nextB = Optional.of(firstB);
            this.watchA = new PictureWatch(firstA.width(), firstA.height());
            this.watchB = new PictureWatch(firstB.width(), firstB.height());
            this.kept = new KeptFrames(expected);
        }

        /** @param cut whether it was said already that one stream is longer */
        void toTheEnd(boolean cut) {
            while (nextA.isPresent() && nextB.isPresent()) {
                pair(nextA.get(), nextB.get());
            }
            if (nextA.isPresent() != nextB.isPresent() && !cut) {
                differences.differ("The " + (nextA.isPresent() ? "candidate" : "reference") + " has more frames than the other's " + metrics.frames(),
                        "the first " + metrics.frames() + " of each were compared");
            }
        }

        private void pair(RgbImage x, RgbImage y) {
            Future<Score> score = threads.submit(() -> Score.of(x, y));
            Future<?> watchedA = threads.submit(() -> {
                watchA.add(x);
                shift.addCandidate(FrameShift.grid(x));
            });
            Future<?> watchedB = threads.submit(() -> {
                watchB.add(y);
                shift.addReference(FrameShift.grid(y));
            });
            Future<Optional<RgbImage>> decodedA = threads.submit((Callable<Optional<RgbImage>>) a::next);
            Future<Optional<RgbImage>> decodedB = threads.submit((Callable<Optional<RgbImage>>) b::next);
            Score scored = await(score);
            await(watchedA);
            await(watchedB);
            if (options.pictures()) {
                kept.add(metrics.frames(), scored, x, y);
            }
            metrics.add(scored);
            framesDone.accept(metrics.frames());
            nextA = await(decodedA);
            nextB = await(decodedB);
        }
    }

    private static <T> T await(Future<T> task) {
        try {
            return task.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                default -> throw new IllegalStateException(e.getCause());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while comparing frames", e);
        }
    }
}
