package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.process.EngineOrder;
import io.kinema.jobs.process.EngineProcess;
import io.kinema.jobs.process.EngineReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine process as {@code kinema serve} and {@code kinema worker} start it. */
class WorkerEngineTest {
    private static final Duration A_WHILE = Duration.ofMinutes(10);

    @TempDir
    private Path folder;

    @Test
    void takesOrdersIsDeafToSignalsAndEndsWithItsParent() throws Exception {
        ProcessHandle child;
        try (EngineProcess engine = EngineProcess.start(() -> OwnProgram.start(List.of(WorkerEngineCommand.NAME, "--threads=1")), A_WHILE)) {
            child = ProcessHandle.of(engine.pid()).orElseThrow();
            for (String signal : List.of("TERM", "INT", "HUP")) {
                assertThat(Shell.bare(folder).bash("kill -" + signal + " \"$1\"", "" + engine.pid()).exit()).isZero();
            }
            // A wrong request is answered by the engine itself: it took the order after the signals.
            engine.order(new EngineOrder.Run(GenerateRequest.prompt("x").size(100, 100).build(), folder, folder.resolve("steps"), 5, 0));
            assertThat(next(engine)).isInstanceOfSatisfying(EngineReport.Failed.class, failed -> assertThat(failed.error().message()).contains("width"));
        }
        assertThat(child.isAlive()).isFalse();
    }

    @Test
    void endsWhenThePipeDoes() throws Exception {
        Process process = OwnProgram.start(List.of(WorkerEngineCommand.NAME));
        process.getOutputStream().close();
        assertThat(process.waitFor(A_WHILE.toSeconds(), java.util.concurrent.TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    private static EngineReport next(EngineProcess engine) throws InterruptedException, IOException {
        Optional<EngineReport> report = engine.next(A_WHILE);
        return report.orElseThrow(() -> new IOException("no report"));
    }

    private static void refused(List<String> words, String... arguments) {
        Captured run = new Captured(false);
        assertThat(run.kinema(arguments)).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(run.errors()).hasSize(1);
        assertThat(run.err()).contains(words).doesNotContain("secret");
    }

    @Test
    void aWorkerWantsAQueueThatOthersCanShare() {
        refused(List.of("missing --queue JDBC_URL"), "worker");
        refused(List.of("--queue", "jdbc:postgresql:"), "worker", "--queue", "jdbc:mysql://host/x?password=secret");
        refused(List.of("--storage", "s3://BUCKET"), "worker", "--queue", "jdbc:postgresql://h/d?password=secret", "--storage", "s3://");
    }

    @Test
    void theEngineProcessIsNotShownToUsers() {
        for (String[] arguments : new String[][] {{"--help"}, {}}) {
            Captured run = new Captured(false);
            run.kinema(arguments);
            assertThat(run.out() + run.err()).contains("worker").doesNotContain(WorkerEngineCommand.NAME);
        }
    }
}
