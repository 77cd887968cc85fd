package io.kinema.jobs.service;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.Submission;
import io.kinema.jobs.process.FakeEngine;
import io.kinema.jobs.sql.DatabaseUrl;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.worker.WorkerOptions;
import io.kinema.jobs.worker.WorkerTimes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A queue with a worker in a process of its own, for tests that kill it. Owns the process until it is closed. It does what lines on its
 * standard input say: {@code submit PROMPT}, {@code show ID}, and answers each with one line.
 */
final class QueueProcess implements AutoCloseable {
    /** As in {@link WorkerTimes#defaults}: a worker that was killed is found in twelve seconds, and one that lives is hardly ever silent for so long. */
    private static final Duration BEATS = Duration.ofSeconds(3);

    private final Process process;
    private final PrintStream orders;
    private final BufferedReader answers;

    private QueueProcess(Process process) throws IOException {
        this.process = process;
        this.orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        answers.readLine();
    }

    /** The other side. @param arguments folder, PostgreSQL's URL or "", milliseconds that a job takes */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        PrintStream out = System.out;
        System.setOut(System.err);
        WorkerTimes times = arguments[1].isEmpty() ? QueueServiceTest.TIMES : QueueServiceTest.lostAfterFour(BEATS);
        QueueService service = QueueService.open(options(folder, arguments[1])
                .worker(new WorkerOptions("fake", FakeEngine.launcher(Long.parseLong(arguments[2])), folder.resolve("work-" + ProcessHandle.current().pid()), 1, times)));
        Runtime.getRuntime().addShutdownHook(new Thread(service::close));
        out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String rest = line.substring(line.indexOf(' ') + 1);
            out.println(line.startsWith("submit ")
                    ? service.jobs().submit(Submission.of("fake", GenerateRequest.prompt(rest).build())).job().id()
                    : shown(service.jobs().get(JobId.parse(rest).orElseThrow()).orElseThrow()));
        }
    }

    private static String shown(Job job) {
        return job.state().label() + " " + job.progress().step();
    }

    static QueueOptions options(Path folder, String postgres) {
        return QueueOptions.of(postgres.isEmpty() ? DatabaseUrl.inFolder(folder) : DatabaseUrl.shared(postgres), FolderStorage.open(folder.resolve("storage")))
                .limits(new JobLimits(5000, 5000, Duration.ofDays(1)));
    }

    static QueueProcess start(Path folder, String postgres, long millis) throws IOException {
        return new QueueProcess(new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), QueueProcess.class.getName(), folder.toString(), postgres,
                Long.toString(millis)).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    private String ask(String line) throws IOException {
        orders.println(line);
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the queue process ended at: " + line);
        }
        return answer;
    }

    JobId submit(String prompt) throws IOException {
        return JobId.parse(ask("submit " + prompt)).orElseThrow();
    }

    String show(JobId id) throws IOException {
        return ask("show " + id);
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    @Override
    public void close() throws InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.waitFor();
    }
}
