package io.kinema.serve;

import io.kinema.jobs.JobLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the API's own work under load, with an engine that takes 10 ms: {@code LoadBench [CLIENTS [SUBMISSIONS [ROUNDS [heap|sql]]]]}. The shares
 * come from the server's own meters, from a request's headers to the end of its answer; the heap is measured after a full collection.
 */
public final class LoadBench {
    private static final Pattern BUCKET = Pattern.compile("http_server_requests_seconds_bucket\\{method=\"(\\w+)\",route=\"([^\"]+)\",status=\"(\\d+)\",le=\"([^\"]+)\"\\} (\\S+)");
    private static final double[] LIMITS = {0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, Double.POSITIVE_INFINITY};

    private LoadBench() {
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        int clients = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
        int submissions = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1000;
        int rounds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 4;
        Path folder = Files.createTempDirectory("kinema-load");
        JobLimits limits = new JobLimits(submissions, submissions, Duration.ofHours(1));
        boolean sql = arguments.length <= 3 || arguments[3].equals("sql");
        System.out.println((sql ? "jobs in an H2 file" : "jobs on the heap") + ", " + clients + " clients, " + submissions + " submissions a round");
        try (TestServer server = sql ? TestServer.startInSql(folder, limits) : TestServer.start(folder, limits, options -> options)) {
            server.worker.stepMillis(3);
            double[] before = new double[LIMITS.length];
            for (int round = 1; round <= rounds; round++) {
                long start = System.nanoTime();
                LoadRun run = new LoadRun(server, clients, submissions).run();
                double seconds = (System.nanoTime() - start) / 1e9;
                double[] total = shares(server.get("/metrics").text());
                double[] here = new double[LIMITS.length];
                for (int i = 0; i < here.length; i++) {
                    here[i] = total[i] - before[i];
                }
                before = total;
                System.out.printf(Locale.ROOT, "round %d: %d jobs, %d made, %d wrong, %d refused, %.1f s; heap after collection %.1f MiB%n", round, run.jobs(),
                        server.worker.made(), run.wrong().size(), run.refused(), seconds, usedMiB());
                run.wrong().stream().limit(3).forEach(System.out::println);
                print(here);
            }
        }
    }

    private static void print(double[] counts) {
        double all = counts[counts.length - 1];
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "  %.0f answers, of which within", all));
        for (int i = 0; i < LIMITS.length - 1; i++) {
            line.append(String.format(Locale.ROOT, " %.0f ms: %.2f%%", LIMITS[i] * 1000, 100 * counts[i] / all));
        }
        System.out.println(line);
    }

    /** Answers within each limit, over all routes but the meters themselves. */
    private static double[] shares(String meters) {
        double[] counts = new double[LIMITS.length];
        Matcher bucket = BUCKET.matcher(meters);
        while (bucket.find()) {
            double limit = bucket.group(4).equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bucket.group(4));
            for (int i = 0; i < LIMITS.length; i++) {
                if (LIMITS[i] == limit && !bucket.group(2).equals("/metrics")) {
                    counts[i] += Double.parseDouble(bucket.group(5));
                }
            }
        }
        return counts;
    }

    private static double usedMiB() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return (runtime.totalMemory() - runtime.freeMemory()) / 1048576.0;
    }
}
