package io.kinema.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Planner;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.JobService;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.Submitted;
import io.kinema.jobs.WorkQueue;
import io.kinema.jobs.WorkerStatus;
import io.kinema.jobs.memory.InMemoryJobs;
import io.kinema.jobs.sql.Database;
import io.kinema.jobs.sql.DatabaseUrl;
import io.kinema.jobs.sql.SqlJobs;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.storage.OutputStorage;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A server on a free port with jobs on the heap, the bundled model's rules, and an engine that computes nothing. */
final class TestServer implements AutoCloseable {
    static final Path ROOT = Path.of(Optional.ofNullable(System.getProperty("kinema.root")).orElse("..")).toAbsolutePath().normalize();
    /** The longest that anything may take, on a machine that has much else to do. */
    static final Duration A_WHILE = Duration.ofMinutes(5);
    private static final ObjectMapper JSON = new ObjectMapper();

    final JobStore jobs;
    final FakeWorker worker;
    final Path staging;
    final List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    private final OutputStorage storage;
    private final H3Planner planner;
    private final Server server;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Where the jobs are. */
    interface Jobs {
        JobStore store();

        WorkQueue work();

        Optional<JobId> next();
    }

    private TestServer(Path folder, FakeWorker.FilmMaker films, UnaryOperator<ServeOptions> options, Function<OutputStorage, Jobs> made) throws IOException {
        storage = FolderStorage.open(folder.resolve("stored"));
        Jobs queue = made.apply(storage);
        jobs = queue.store();
        worker = new FakeWorker(queue.work(), queue::next, storage, Files.createDirectories(folder.resolve("scratch")), 2, films);
        planner = H3Planner.open(EngineOptions.builder().model(ROOT.resolve("models/h3-nano")).build());
        staging = folder.resolve("staging");
        server = Server.start(options.apply(ServeOptions.on("127.0.0.1", 0, staging).log((name, failure) -> failures.add(failure))), queue(), planner);
    }

    /** Answers every job with its prompt in place of a film. */
    static TestServer start(Path folder) throws IOException {
        return start(folder, options -> options);
    }

    static TestServer start(Path folder, UnaryOperator<ServeOptions> options) throws IOException {
        return start(folder, JobLimits.defaults(), options);
    }

    static TestServer start(Path folder, JobLimits limits, UnaryOperator<ServeOptions> options) throws IOException {
        return new TestServer(folder, TestServer::promptAsFilm, options, onTheHeap(limits));
    }

    static TestServer start(Path folder, JobLimits limits, FakeWorker.FilmMaker films) throws IOException {
        return start(folder, limits, films, options -> options);
    }

    static TestServer start(Path folder, JobLimits limits, FakeWorker.FilmMaker films, UnaryOperator<ServeOptions> options) throws IOException {
        return new TestServer(folder, films, options, onTheHeap(limits));
    }

    /** Jobs in SQL, in an H2 file as kinema serve keeps them. */
    static TestServer startInSql(Path folder, JobLimits limits) throws IOException {
        Database database = Database.open(DatabaseUrl.inFolder(folder), A_WHILE);
        return new TestServer(folder, TestServer::promptAsFilm, options -> options, storage -> inSql(new SqlJobs(database, storage, limits, InstantSource.system())));
    }

    private static Function<OutputStorage, Jobs> onTheHeap(JobLimits limits) {
        return storage -> {
            InMemoryJobs jobs = new InMemoryJobs(limits, storage, InstantSource.system());
            return jobs(jobs, jobs, jobs::next);
        };
    }

    /** The scheduler that tells a real worker its turn is left out: this one hears of what is submitted. */
    private static Jobs inSql(SqlJobs jobs) {
        LinkedBlockingQueue<JobId> submitted = new LinkedBlockingQueue<>();
        JobStore heard = (JobStore) Proxy.newProxyInstance(TestServer.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, arguments) -> {
            try {
                Object result = method.invoke(jobs, arguments);
                if (result instanceof Submitted made && !made.repeated()) {
                    submitted.add(made.job().id());
                }
                return result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return jobs(heard, jobs, () -> Optional.ofNullable(submitted.poll()));
    }

    private static Jobs jobs(JobStore store, WorkQueue work, Supplier<Optional<JobId>> turns) {
        return new Jobs() {
            @Override
            public JobStore store() {
                return store;
            }

            @Override
            public WorkQueue work() {
                return work;
            }

            @Override
            public Optional<JobId> next() {
                return turns.get();
            }
        };
    }

    private static void promptAsFilm(io.kinema.jobs.Job job, int output, java.util.Map<io.kinema.jobs.OutputFile, Path> files) throws IOException {
        Files.writeString(files.get(io.kinema.jobs.OutputFile.VIDEO), job.request().generate().prompt() + " " + output);
        Files.writeString(files.get(io.kinema.jobs.OutputFile.RECORD), "{}");
    }

    private JobService queue() {
        return new JobService() {
            @Override
            public JobStore jobs() {
                return jobs;
            }

            @Override
            public OutputStorage storage() {
                return storage;
            }

            @Override
            public WorkerStatus worker() {
                return new WorkerStatus(WorkerStatus.State.IDLE, Optional.empty(), 0);
            }

            @Override
            public void close() {
                // The fixture closes its parts itself.
            }
        };
    }

    int port() {
        return server.port();
    }

    OutputStorage storage() {
        return storage;
    }

    Server server() {
        return server;
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port() + path);
    }

    /** An answer, with its JSON where it is some. */
    record Answer(HttpResponse<byte[]> response) {
        int status() {
            return response.statusCode();
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        String text() {
            return new String(response.body(), StandardCharsets.UTF_8);
        }

        JsonNode json() {
            try {
                return JSON.readTree(response.body());
            } catch (IOException e) {
                throw new AssertionError("no JSON: " + text(), e);
            }
        }
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(uri(path)).timeout(A_WHILE);
    }

    Answer send(HttpRequest.Builder request) {
        try {
            return new Answer(http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray()));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    Answer get(String path) {
        return send(request(path));
    }

    Answer delete(String path) {
        return send(request(path).DELETE());
    }

    Answer post(String path, String json) {
        return send(request(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    Answer post(String path, String contentType, byte[] body) {
        return send(request(path).header("Content-Type", contentType).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    Answer post(String path, Multipart form) {
        return post(path, form.contentType(), form.body());
    }

    /** Waits for a job to be finished. */
    JsonNode finished(String id) {
        for (long end = System.nanoTime() + A_WHILE.toNanos(); System.nanoTime() < end;) {
            JsonNode video = get("/v1/videos/" + id).json();
            if (!List.of("queued", "in_progress").contains(video.path("status").asText())) {
                return video;
            }
            sleep(5);
        }
        throw new AssertionError("never finished: " + get("/v1/videos/" + id).text());
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Files that calls have left behind. */
    List<Path> leftInStaging() throws IOException {
        try (var left = Files.walk(staging)) {
            return left.filter(path -> !path.equals(staging)).toList();
        }
    }

    @Override
    public void close() throws InterruptedException {
        server.close();
        worker.close();
        planner.close();
        storage.close();
    }
}
