package io.kinema.serve.api;

import io.javalin.http.Context;
import io.kinema.engine.StepSaving;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import io.kinema.jobs.storage.StoredFile;
import io.kinema.media.BadMediaException;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.serve.body.Staging;
import io.kinema.serve.http.Caller;
import io.kinema.serve.preview.LatentColours;
import io.kinema.serve.preview.LatentFrame;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * {@code GET /v1/videos/{id}/preview}: the middle frame of the clip that a running job is heading for, as of its last saved step, from
 * latents alone. Its colours are learned from the caller's newest finished clips; before there is one it is grey.
 */
final class VideoPreview {
    private static final int PIXELS_PER_CELL = 8;
    private static final int LOOKED_AT = 20;
    private static final int LEARNED_FROM = 3;
    private static final String LATENTS = "latents";
    /** A large model's state takes a moment to copy. */
    private static final int AT_ONCE = 2;
    private static final int RETRY_SECONDS = 2;

    /**
     * Colours, and what they were learned from.
     *
     * @param clips   whose latents and thumbnails were looked at
     * @param colours never changed again
     */
    private record Learned(List<JobId> clips, LatentColours colours) {
    }

    private final JobStore jobs;
    private final OutputStorage storage;
    private final Path stagingRoot;
    private final Semaphore places = new Semaphore(AT_ONCE);
    /** By owner: nobody's preview shows anything of another's clips, be it colours. */
    private final Map<Optional<String>, Learned> learned = new ConcurrentHashMap<>();

    VideoPreview(Service service) {
        this.jobs = service.jobs();
        this.storage = service.storage();
        this.stagingRoot = service.staging();
    }

    void get(Context call, Caller caller) {
        Job job = VideoQueries.owned(jobs, call, caller);
        if (!places.tryAcquire()) {
            throw Problem.of(ProblemKind.BUSY, "preview: others are being drawn, expected to be one of fewer; ask again in a moment").retryAfter(RETRY_SECONDS);
        }
        try (Staging staging = new Staging(stagingRoot)) {
            LatentFrame frame = estimate(job, staging).orElseThrow(() -> Problem.of(ProblemKind.NOT_FOUND,
                    "preview: got a video of which no step is saved, expected one in progress; ask again in a while"));
            RgbImage cells = colours(frame.channels(), caller, staging).picture(frame).orElseGet(() -> LatentColours.grey(frame));
            RgbImage picture = PillowLanczos.resize(cells, frame.width() * PIXELS_PER_CELL, frame.height() * PIXELS_PER_CELL);
            call.contentType(OutputFile.THUMBNAIL.mediaType()).result(PngWriter.encode(picture));
        } finally {
            places.release();
        }
    }

    private Optional<LatentFrame> estimate(Job job, Staging staging) {
        return storage.find(JobFiles.steps(job.id())).flatMap(file -> fetched(file, staging)).flatMap(path -> LatentFrame.read(path, StepSaving.ESTIMATE));
    }

    private LatentColours colours(int channels, Caller caller, Staging staging) {
        List<Job> finished = jobs.list(new JobQuery(caller.owner(), JobQuery.Order.NEWEST_FIRST, Optional.empty(), LOOKED_AT)).jobs().stream()
                .filter(job -> job.state() == JobState.COMPLETED).limit(LEARNED_FROM).toList();
        List<JobId> clips = finished.stream().map(Job::id).toList();
        Learned before = learned.get(caller.owner());
        if (before != null && before.clips().equals(clips)) {
            return before.colours();
        }
        LatentColours colours = new LatentColours(channels);
        finished.forEach(job -> job.output(0).ifPresent(output -> learn(colours, output, staging)));
        learned.put(caller.owner(), new Learned(clips, colours));
        return colours;
    }

    /** A thumbnail is the clip's middle frame, and its latents have one that stands for it. */
    private void learn(LatentColours colours, JobOutput output, Staging staging) {
        Optional<Path> latents = output.file(OutputFile.LATENTS).flatMap(file -> fetched(file, staging));
        Optional<Path> thumbnail = output.file(OutputFile.THUMBNAIL).flatMap(file -> fetched(file, staging));
        if (latents.isPresent() && thumbnail.isPresent()) {
            try {
                RgbImage picture = ImageReader.read(thumbnail.get());
                LatentFrame.read(latents.get(), LATENTS).ifPresent(frame -> colours.learn(frame, picture));
            } catch (BadMediaException | IllegalArgumentException unusable) {
                // The colours are learned from the others.
            }
        }
    }

    private Optional<Path> fetched(StoredFile file, Staging staging) {
        try {
            Path target = staging.newFile();
            storage.fetch(file.key(), target);
            return Optional.of(target);
        } catch (StorageException gone) {
            return Optional.empty();
        }
    }
}
