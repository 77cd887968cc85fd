package io.kinema.jobs.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStoreContract;
import io.kinema.jobs.Lease;
import java.nio.file.Path;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract on PostgreSQL, and what happens when it goes away. */
@Tag("long")
class PostgresJobsTest extends JobStoreContract {
    private static PostgresServer server;

    private Database database;
    private SqlJobs jobs;

    @BeforeAll
    static void serve() throws Exception {
        Optional<Path> binaries = PostgresServer.binaries();
        Assumptions.assumeTrue(binaries.isPresent(), "no PostgreSQL server in /usr/lib/postgresql: apt-get install postgresql, or let ./check do so as root");
        server = PostgresServer.start(binaries.get());
    }

    @AfterAll
    static void end() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    protected SqlJobs open() {
        database = Database.open(DatabaseUrl.shared(server.url()), Duration.ofSeconds(60));
        database.transaction("test", c -> {
            try (Statement statement = c.createStatement()) {
                return statement.execute("truncate kinema_jobs, kinema_tasks");
            }
        });
        jobs = new SqlJobs(database, storage, LIMITS, clock);
        return jobs;
    }

    @Override
    protected void shut() {
        database.close();
    }

    @Test
    void aRestartUnderneathLosesNothing() throws Exception {
        Job first = jobs.submit(submission("before")).job();
        Lease lease = jobs.begin(first.id()).orElseThrow();
        server.down();
        CompletableFuture<Boolean> completing = CompletableFuture.supplyAsync(() -> jobs.complete(lease));
        CompletableFuture<JobId> submitting = CompletableFuture.supplyAsync(() -> jobs.submit(submission("during")).job().id());
        assertThat(completing).as("nobody is told what is not stored").isNotDone();
        server.up();
        assertThat(completing.get()).isTrue();
        JobId second = submitting.get();
        assertThat(jobs.get(first.id()).orElseThrow().state()).isEqualTo(JobState.COMPLETED);
        assertThat(jobs.get(second).orElseThrow().state()).isEqualTo(JobState.QUEUED);
        assertThat(jobs.counts().of(JobState.QUEUED)).isEqualTo(1);
    }

    @Test
    void twoProcessesThatOpenAnEmptyDatabaseAtOnceAgree() {
        database.transaction("test", c -> {
            try (Statement statement = c.createStatement()) {
                return statement.execute("drop table kinema_jobs, kinema_tasks, kinema_queue, kinema_schema");
            }
        });
        CompletableFuture<Database> one = CompletableFuture.supplyAsync(() -> Database.open(DatabaseUrl.shared(server.url()), Duration.ofSeconds(5)));
        CompletableFuture<Database> two = CompletableFuture.supplyAsync(() -> Database.open(DatabaseUrl.shared(server.url()), Duration.ofSeconds(5)));
        one.join().close();
        two.join().close();
        assertThat(jobs.submit(submission("a")).job().state()).isEqualTo(JobState.QUEUED);
    }
}
