package io.kinema.measure.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Engine;
import io.kinema.measure.Models;
import io.kinema.measure.contract.BenchGates;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The protocol on the bundled model. What is asserted of times holds on a busy machine too. */
class BenchTest {
    private static final JvmState CLEAN = new JvmState(List.of(), 0, Set.of(), 0, Map.of());

    @TempDir
    private Path folder;

    private BenchReport bench(Bench bench, BenchGates gates) {
        return bench.run(Models.contract().withGates(gates), folder, Bench.Listener.NONE, new Cancellation());
    }

    /** How long to wait before an attention of a request. */
    private interface Wait {
        /** @param usual nanoseconds from one attention to the next, in the first measured request; 0 before its second */
        long nanos(int request, long usual);
    }

    /** An engine that waits before every attention. */
    private static H3Engine slow(EngineOptions options, Wait wait) {
        CpuBackend cpu = CpuBackend.open(1);
        AtomicInteger attentions = new AtomicInteger();
        AtomicLong first = new AtomicLong();
        AtomicLong last = new AtomicLong();
        int perRequest = attentionsOfARequest();
        Backend slowed = (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("attention")) {
                int before = attentions.getAndIncrement();
                int inFirst = Math.clamp(before - perRequest, 0, perRequest - 1);
                if (before == perRequest) {
                    first.set(System.nanoTime());
                } else if (before > perRequest && before < 2 * perRequest) {
                    last.set(System.nanoTime());
                }
                long end = System.nanoTime() + wait.nanos(before / perRequest, inFirst == 0 ? 0 : (last.get() - first.get()) / inFirst);
                while (System.nanoTime() < end) {
                    LockSupport.parkNanos(end - System.nanoTime());
                }
            }
            try {
                return method.invoke(cpu, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return H3Engine.open(options, slowed);
    }

    private static int attentionsOfARequest() {
        AtomicInteger count = new AtomicInteger();
        CpuBackend cpu = CpuBackend.open(1);
        Backend counting = (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("attention")) {
                count.incrementAndGet();
            }
            try {
                return method.invoke(cpu, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        try (H3Engine engine = H3Engine.open(Models.nano(), counting)) {
            engine.generate(Models.request());
        }
        return count.get();
    }

    @Test
    void aBenchIsOneWarmUpAndThreeMeasuredRequests() {
        List<String> names = new ArrayList<>();
        BenchReport report = Bench.on(H3Engine::open, () -> CLEAN).run(Models.contract(), folder,
                new Bench.Listener(event -> { }, names::add, clip -> { }), new Cancellation());
        assertThat(report.rejection()).isEmpty();
        assertThat(names).containsExactly("warm-up", "run-1", "run-2", "run-3").allSatisfy(name -> {
            assertThat(folder.resolve(name).resolve("clip.mp4")).isNotEmptyFile();
            assertThat(folder.resolve(name).resolve("clip.json")).isNotEmptyFile();
        });
        assertThat(report.measured()).hasSize(3);
        assertThat(report.leastTflops()).isPositive();
        assertThat(report.sgemmFlops().getAsDouble()).isPositive();
        assertThat(report.hostBytes()).isPositive();
        assertThat(report.samples()).isNotEmpty();
        JsonNode json = report.toJson();
        assertThat(json.path("schema").asText()).isEqualTo("kinema.bench-report/1");
        assertThat(json.path("contract_sha256").asText()).hasSize(64);
        assertThat(json.path("environment").path("engine").path("sha256").asText()).hasSize(64);
        assertThat(json.path("runs")).hasSize(4);
        assertThat(BenchTable.of(report)).contains("| useful GFLOP/s |", "SGEMM", report.contract().sha256().substring(0, 12)).doesNotContain("null", "NaN");
    }

    /** A request that takes three times as long as the one before is no steady measurement, whatever others do to all of them. */
    @Test
    void aSlowDownOfOneRequestFailsTheCv() {
        BenchReport report = bench(Bench.on(options -> slow(options, (request, usual) -> request == 2 ? Math.max(30_000_000L, 3 * usual) : 0), () -> CLEAN), BenchGates.STEADY);
        assertThat(report.rejection()).isEmpty();
        assertThat(report.cv()).isGreaterThan(0.05);
        assertThat(report.passed()).isFalse();
        assertThat(report.gates()).filteredOn(g -> !g.pass()).extracting(GateResult::name).containsExactly("max_cv");
    }

    /** Steadily slow is steady, and caught by the rate. */
    @Test
    void aSlowDownOfEveryRequestFailsTheRate() {
        BenchReport report = bench(Bench.on(options -> slow(options, (request, usual) -> 30_000_000L), () -> CLEAN), BenchGates.STEADY);
        double slow = report.leastTflops();
        assertThat(report.medianDenoiseSeconds()).as("2 evaluations of 8 blocks and 1 refiner block").isGreaterThan(17 * 0.030);
        // What the same work takes in the time that it waited is an upper bound of its rate.
        double limit = report.measured().getFirst().usefulFlops().getFirst() / (17 * 0.030) / 1e12;
        BenchReport judged = new BenchReport(report.contract().withGates(BenchGates.STEADY.withMinTflops(limit)), report.environment(), report.runs(),
                report.rejection(), report.sgemmFlops(), report.samples());
        assertThat(slow).isLessThan(limit);
        assertThat(judged.gates()).filteredOn(g -> g.name().equals("min_tflops")).singleElement().satisfies(g -> assertThat(g.pass()).isFalse());
        assertThat(judged.passed()).isFalse();
    }

    @Test
    void aMemoryBudgetIsHeld() {
        BenchReport report = bench(Bench.on(H3Engine::open, () -> CLEAN), new BenchGates(OptionalDouble.empty(), 0.05, OptionalLong.of(1 << 20), OptionalLong.of(1)));
        assertThat(report.gates()).filteredOn(g -> g.name().equals("max_host_bytes")).singleElement().satisfies(g -> {
            assertThat(g.pass()).isFalse();
            assertThat(g.text()).startsWith("FAIL  max_host_bytes").endsWith("(at most 1048576)");
        });
        assertThat(report.gates()).filteredOn(g -> g.name().equals("max_device_bytes")).singleElement().satisfies(g -> assertThat(g.pass()).as("the host has no device memory").isTrue());
    }

    @Test
    void aProfiledProcessIsRefusedBeforeAnyWork() {
        JvmState profiled = new JvmState(List.of("-javaagent:x.jar"), 0, Set.of(), 0, Map.of());
        assertThatExceptionOfType(BenchRejectedException.class).isThrownBy(() -> bench(Bench.on(options -> {
            throw new AssertionError("an engine was opened");
        }, () -> profiled), BenchGates.STEADY)).withMessage("rejected as profiled: the JVM runs with -javaagent:");
    }

    @Test
    void aProfilerThatComesLaterIsSeen() {
        AtomicInteger looks = new AtomicInteger();
        BenchReport report = bench(Bench.on(H3Engine::open, () -> looks.incrementAndGet() < 5 ? CLEAN : new JvmState(List.of(), 1, Set.of(), 0, Map.of())), BenchGates.STEADY);
        assertThat(report.passed()).isFalse();
        assertThat(report.rejection().orElseThrow().rule()).isEqualTo(Rejection.Rule.PROFILED);
        assertThat(report.toJson().path("rejected").path("rule").asText()).isEqualTo("profiled");
    }
}
