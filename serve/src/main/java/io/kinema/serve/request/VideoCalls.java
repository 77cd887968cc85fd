package io.kinema.serve.request;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Planner;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobInputs;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.serve.body.Staging;
import io.kinema.serve.fetch.ReferenceFetcher;
import io.kinema.serve.http.Caller;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Turns the fields of a call into a request that the engine has accepted, with every file it names on this machine. */
public final class VideoCalls {
    private static final int CALLS_WITH_MEDIA = 16;
    private static final int WAIT_SECONDS = 5;
    /** The pictures, videos and sounds of one call together. */
    private static final long MOST_BYTES = 200L << 20;

    private final Offer offer;
    private final H3Planner planner;
    private final MediaStager stager;
    private final OutputStorage storage;
    /** What lies in the staging folder at once is bounded by these places and by what a call may bring. */
    private final Semaphore mediaPlaces = new Semaphore(CALLS_WITH_MEDIA);

    /** @param planner checks requests against the model that {@code offer} names; closed by whoever opened it */
    public VideoCalls(Offer offer, H3Planner planner, ReferenceFetcher fetcher, JobStore jobs, OutputStorage storage) {
        this.offer = offer;
        this.planner = planner;
        this.storage = storage;
        this.stager = new MediaStager(fetcher, jobs, storage, offer.files());
    }

    /**
     * Reads and checks a call.
     *
     * @param body    its fields; uploads among them lie in the staging folder already
     * @param caller  whose earlier videos it may name
     * @param staging where fetched files go; it must stay open as long as the request is used
     * @throws Problem when it breaks a rule
     */
    public Prepared prepare(ObjectNode body, Caller caller, Staging staging) {
        VideoCall call = VideoCall.parse(body, offer);
        if (call.media().isEmpty()) {
            return checked(call, List.of());
        }
        // What can be refused without fetching anything has been refused.
        return inPlace(() -> checked(call, staged(call, caller, staging)));
    }

    private List<MediaStager.Staged> staged(VideoCall call, Caller caller, Staging staging) {
        List<MediaStager.Staged> files = new ArrayList<>();
        long bytes = 0;
        for (MediaInput input : call.media()) {
            files.add(stager.stage(input, caller, staging));
            bytes += files.getLast().bytes();
            if (bytes > MOST_BYTES) {
                throw Problem.field(ProblemKind.TOO_LARGE, input.name(), "files of " + bytes + " bytes together", "expected at most " + MOST_BYTES);
            }
        }
        return files;
    }

    private <T> T inPlace(Supplier<T> work) {
        takePlace();
        try {
            return work.get();
        } finally {
            mediaPlaces.release();
        }
    }

    private void takePlace() {
        try {
            if (mediaPlaces.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw Problem.of(ProblemKind.BUSY, "references: " + CALLS_WITH_MEDIA + " calls with files are read already, expected to be one of fewer; try again")
                .retryAfter(WAIT_SECONDS);
    }

    /**
     * Checks an earlier request again with another prompt.
     *
     * @param earlier one of the caller's
     * @param body    {@code prompt}, and nothing else
     * @param staging where its files go; it must stay open as long as the request is used
     * @throws Problem when it breaks a rule
     */
    public Prepared remix(Job earlier, ObjectNode body, Staging staging) {
        CallFields fields = CallFields.of(body);
        body.fieldNames().forEachRemaining(name -> {
            if (!name.equals(Field.PROMPT.label())) {
                throw Problem.invalid(Problem.printable(name, 60), "it in a remix", "expected prompt alone: all else stays as it was");
            }
        });
        String prompt = fields.text(Field.PROMPT).orElseThrow(() -> Problem.invalid("prompt", "nothing", "expected what should change"));
        if (!JobInputs.any(earlier.request().generate())) {
            return remixed(earlier.request().generate(), prompt);
        }
        return inPlace(() -> remixed(JobInputs.fetch(earlier, storage, staging.folder()), prompt));
    }

    private Prepared remixed(GenerateRequest earlier, String prompt) {
        GenerateRequest request = new GenerateRequest(prompt, earlier.task(), earlier.image(), earlier.lastImage(), earlier.references(), earlier.width(),
                earlier.height(), earlier.aspectRatio(), earlier.frames(), earlier.seconds(), earlier.steps(), earlier.seed(), earlier.outputs(),
                earlier.flowShift(), earlier.audioFlowShift(), earlier.noiseScheme(), earlier.strict(), earlier.adapters());
        return EngineRefusals.in(List.of(), () -> {
            ResolvedRequest resolved = planner.resolve(request);
            return new Prepared(request, resolved, false, resolved.notes(), Map.of());
        });
    }

    /** What a prepared call would do and cost. */
    public RunPlan plan(Prepared prepared, Rates rates) {
        return EngineRefusals.in(List.of(), () -> planner.plan(prepared.request(), rates));
    }

    private Prepared checked(VideoCall call, List<MediaStager.Staged> files) {
        return EngineRefusals.in(files, () -> {
            GenerateRequest request = withSteps(MediaRoles.apply(call, files), call.gridPoints());
            ResolvedRequest resolved = planner.resolve(request);
            List<String> notes = new ArrayList<>(call.notes());
            call.gridPoints().ifPresent(points -> notes.add("num_inference_steps " + points + " are " + resolved.steps() + " model evaluations"));
            notes.addAll(resolved.notes());
            return new Prepared(request, resolved, call.dryRun(), notes, names(files));
        });
    }

    private static Map<String, String> names(List<MediaStager.Staged> files) {
        return files.stream().collect(Collectors.toMap(file -> file.file().getFileName().toString(), file -> file.input().name(), (one, same) -> one));
    }

    /**
     * {@code num_inference_steps} counts grid points, one more than the evaluations between them; for an adapter that lists its noise
     * levels, as other servers have it, it counts the evaluations.
     */
    private GenerateRequest withSteps(GenerateRequest request, OptionalInt gridPoints) {
        if (gridPoints.isEmpty()) {
            return request;
        }
        boolean listed = !request.adapters().isEmpty() && !planner.resolve(request).levels().isEmpty();
        int steps = listed ? gridPoints.getAsInt() : gridPoints.getAsInt() - 1;
        if (steps < 1) {
            throw Problem.invalid(Field.GRID_POINTS.label(), "" + gridPoints.getAsInt(),
                    "expected at least 2: it counts grid points, one more than model evaluations; steps counts those");
        }
        return new GenerateRequest(request.prompt(), request.task(), request.image(), request.lastImage(), request.references(), request.width(),
                request.height(), request.aspectRatio(), request.frames(), request.seconds(), OptionalInt.of(steps), request.seed(),
                request.outputs(), request.flowShift(), request.audioFlowShift(), request.noiseScheme(), request.strict(), request.adapters());
    }
}
