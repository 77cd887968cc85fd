package io.kinema.fuzz;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Planner;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.memory.InMemoryJobs;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.serve.body.BodyLimits;
import io.kinema.serve.body.BodyReader;
import io.kinema.serve.body.Staging;
import io.kinema.serve.fetch.FetchPolicy;
import io.kinema.serve.fetch.ReferenceFetcher;
import io.kinema.serve.fetch.ReferenceUrl;
import io.kinema.serve.fetch.RefusedUrlException;
import io.kinema.serve.http.AccessKeys;
import io.kinema.serve.http.ByteRange;
import io.kinema.serve.http.Caller;
import io.kinema.serve.http.HostNames;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.request.Field;
import io.kinema.serve.request.Offer;
import io.kinema.serve.request.Prepared;
import io.kinema.serve.request.VideoCalls;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What clients send: bodies of every content type, addresses and headers. Each is read, or refused with a 4xx problem of one line. */
public final class ApiFuzz {
    private static final Caller NOBODY = new Caller(Optional.empty());
    private static final Path ROOT = Path.of(System.getProperty("kinema.root", ".")).toAbsolutePath();
    private static final Scratch SCRATCH = new Scratch("api");
    private static final BodyReader BODIES = new BodyReader(new BodyLimits(1 << 16, 1 << 16, 1 << 17, 1 << 16, 1 << 14, 12, 64, Duration.ofMinutes(1), 1, 4),
            Field.kinds());
    private static final VideoCalls CALLS = calls();
    private static final AccessKeys KEYS = AccessKeys.parse("somebody=0123456789abcdef0123");
    private static final HostNames NAMES = new HostNames("127.0.0.1", Set.of());
    private static final int LEAST = 400;
    private static final int MOST = 499;

    private ApiFuzz() {
    }

    private static VideoCalls calls() {
        H3Planner planner = H3Planner.open(EngineOptions.builder().model(ROOT.resolve("models/h3-nano")).build());
        FolderStorage storage = FolderStorage.open(SCRATCH.folder().resolve("stored"));
        // No host of the list is ever met: nothing leaves this process.
        ReferenceFetcher fetcher = new ReferenceFetcher(FetchPolicy.onlyPublic(Set.of("nowhere.invalid")));
        Offer offer = new Offer("h3-nano", planner.geometry(), Map.of(), Optional.of(SCRATCH.folder()));
        return new VideoCalls(offer, planner, fetcher, new InMemoryJobs(JobLimits.defaults(), storage, InstantSource.system()), storage);
    }

    /** Jazzer calls this first: opening a model and an HTTP client must not count as the time of an input. */
    public static void fuzzerInitialize() {
        fuzzerTestOneInput("j{}".getBytes(StandardCharsets.US_ASCII));
    }

    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(data, 1, data.length);
        String text = new String(rest, StandardCharsets.UTF_8);
        try {
            switch (data[0]) {
                case 'j' -> call("application/json", rest);
                case 'm' -> call("multipart/form-data; boundary=b", rest);
                case 'u' -> call("application/x-www-form-urlencoded", rest);
                case 't' -> call(text, rest);
                case 'a' -> ReferenceUrl.parse(text);
                case 'r' -> range(text);
                case 'k' -> KEYS.caller(text);
                case 'h' -> NAMES.requireOwn(text);
                default -> NAMES.requireSameOrigin(text, "", "localhost:8000");
            }
        } catch (RefusedUrlException refused) {
            Refusals.requireOneLine(refused.getMessage(), refused);
        } catch (Problem problem) {
            Refusals.requireOneLine(problem.getMessage(), problem);
            if (problem.kind().status() < LEAST || problem.kind().status() > MOST || told(problem.getMessage(), text)) {
                throw new AssertionError(problem);
            }
        }
    }

    /** A path of this machine that was not in the input: the fuzzer guesses it now and then. */
    private static boolean told(String message, String input) {
        String path = SCRATCH.folder().toString();
        return message.contains(path) && !input.toLowerCase(Locale.ROOT).contains(path.toLowerCase(Locale.ROOT));
    }

    private static void call(String type, byte[] body) {
        try (Staging staging = new Staging(SCRATCH.folder())) {
            ObjectNode fields = BODIES.read(type, -1, new ByteArrayInputStream(body), staging);
            Prepared prepared = CALLS.prepare(fields, NOBODY, staging);
            if (prepared.resolved().frames() < 1 || prepared.resolved().steps() < 1) {
                throw new AssertionError("prepared as " + prepared);
            }
        }
    }

    private static void range(String header) {
        long length = 1000;
        ByteRange.parse(header, length).ifPresent(range -> {
            if (range.first() < 0 || range.last() < range.first() || range.last() >= length) {
                throw new AssertionError(header + " is " + range);
            }
        });
    }
}
