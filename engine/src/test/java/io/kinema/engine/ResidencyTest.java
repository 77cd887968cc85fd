package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.ResidencyJobs.Held;
import io.kinema.engine.ResidencyJobs.Plan;
import io.kinema.engine.ResidencyJobs.Policy;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.engine.record.RankRecord;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where weights live changes no bit of a clip, and what is held comes back to where it was. */
class ResidencyTest {
    private static final Policy KEPT = new Policy(Optional.empty(), OptionalInt.empty(), HostWeights.MMAP);
    private static final Policy ONE_LAYER = new Policy(Optional.of(WeightResidency.LAYER), OptionalInt.of(1), HostWeights.PAGEABLE);

    @TempDir
    private Path folder;

    private record Clips(String plain, String adapted, RankRecord rank, Set<String> scratch) {
    }

    private Clips clips(Plan plan, Policy policy, int ranks, Path adapter) {
        try (H3Engine engine = H3Engine.open(policy.over(plan.options("cpu")).ranks(RankOptions.DEFAULTS.withTensorParallel(ranks)).build())) {
            Clip plain = engine.generate(ResidencyJobs.request(64, 64, 2, List.of()));
            Clip adapted = engine.generate(ResidencyJobs.request(64, 64, 2, List.of(AdapterUse.of(adapter).scaled(0.75))));
            return new Clips(ResidencyJobs.digest(plain), ResidencyJobs.digest(adapted), plain.record().ranks().getFirst(), plain.record().memory().scratchBytes().keySet());
        }
    }

    /** Ranks cut their part of every matrix out, which is one more way to bring a layer. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void stagedLayersGiveTheSameClip(int ranks) {
        Path adapter = ResidencyJobs.adapters(folder).getFirst();
        Plan plan = Plan.OF_THE_MODEL.get(2);
        Clips kept = clips(plan, KEPT, ranks, adapter);
        Clips staged = clips(plan, ONE_LAYER, ranks, adapter);
        assertThat(staged.plain()).isEqualTo(kept.plain()).isNotEqualTo(kept.adapted());
        assertThat(staged.adapted()).isEqualTo(kept.adapted());
        assertThat(staged.scratch()).as("networks that were closed on the way are in the record, too").isEqualTo(kept.scratch()).hasSize(4);
        assertThat(kept.rank().staging().residentBlocks()).isEqualTo(8);
        assertThat(staged.rank().staging().residentBlocks()).isEqualTo(1);
        assertThat(staged.rank().staging().stagedBlocks()).as("7 of 8 layers in each of 2 steps, AdaLN and refiner once").isGreaterThanOrEqualTo(14 + 8 + 1);
    }

    /** Fusing is work too, and the thread that stages layers does it while others compute. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void stagedLayersOfAnEditedTransformerGiveTheSameClip(int ranks) {
        Path adapter = NanoAdapter.writeEditing(folder.resolve("edits.safetensors"));
        GenerateRequest request = GenerateRequest.prompt("A red circle").size(64, 64).frames(22).seed(5).adapter(AdapterUse.of(adapter)).build();
        GenerateRequest plain = ResidencyJobs.request(64, 64, 2, ResidencyJobs.adapters(folder).stream().map(AdapterUse::of).toList());
        Set<String> clips = new HashSet<>();
        for (Policy policy : List.of(KEPT, new Policy(Optional.of(WeightResidency.COMPONENT), OptionalInt.empty(), HostWeights.MMAP), ONE_LAYER)) {
            try (H3Engine engine = H3Engine.open(policy.over(Plan.OF_THE_MODEL.get(2).options("cpu")).ranks(RankOptions.DEFAULTS.withTensorParallel(ranks)).build())) {
                clips.add(ResidencyJobs.digest(engine.generate(request)));
                engine.generate(plain);
                clips.add(ResidencyJobs.digest(engine.generate(request)));
            }
        }
        assertThat(clips).hasSize(1);
    }

    @Test
    @Tag("long")
    void everyPolicyGivesTheSameClipInEveryPlan() {
        Path adapter = ResidencyJobs.adapters(folder).getFirst();
        Path int8 = folder.resolve("int8.safetensors");
        Quantizer.quantize(Geometries.NANO, int8, new QuantizeOptions(64, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        List<Plan> plans = new ArrayList<>(Plan.OF_THE_MODEL);
        plans.add(new Plan(Precision.FP16_FP32RES, Optional.empty(), Optional.of(int8)));
        plans.add(new Plan(Precision.FP32, Optional.empty(), Optional.of(int8)));
        for (Plan plan : plans) {
            for (int ranks : new int[] {1, 2}) {
                Clips kept = clips(plan, KEPT, ranks, adapter);
                for (Policy policy : Policy.all("cpu")) {
                    Clips got = clips(plan, policy, ranks, adapter);
                    assertThat(got.plain()).as("%s, %s, %d ranks", plan, policy, ranks).isEqualTo(kept.plain());
                    assertThat(got.adapted()).as("%s, %s, %d ranks, adapted", plan, policy, ranks).isEqualTo(kept.adapted());
                }
            }
        }
    }

    @Test
    void aFailureInTheMiddleOfStagingLeavesTheEngineFit() {
        EngineOptions options = ONE_LAYER.over(Plan.OF_THE_MODEL.get(1).options("cpu")).build();
        GenerateRequest request = ResidencyJobs.request(64, 64, 2, List.of());
        AtomicInteger loads = new AtomicInteger(Integer.MIN_VALUE);
        Backend backend = failing(CpuBackend.open(2), loads);
        try (H3Engine engine = H3Engine.open(options, backend)) {
            String whole = ResidencyJobs.digest(engine.generate(request));
            long baseline = backend.workspaceBytes();
            loads.set(1 + 11 * 20);
            assertThatThrownBy(() -> engine.generate(request)).isInstanceOf(IllegalStateException.class).hasMessage("the disk went away");
            assertThat(backend.workspaceBytes()).as("a failed job holds no more than a good one").isLessThanOrEqualTo(baseline);
            assertThat(ResidencyJobs.digest(engine.generate(request))).isEqualTo(whole);
            assertThat(backend.workspaceBytes()).isEqualTo(baseline);
        }
        assertThat(backend.workspaceBytes()).as("closed").isZero();
    }

    @Test
    @Tag("long")
    void fiftyJobsHoldNoMoreThanTwelve() {
        for (Policy policy : List.of(KEPT, new Policy(Optional.of(WeightResidency.COMPONENT), OptionalInt.empty(), HostWeights.MMAP), ONE_LAYER)) {
            List<Held> held = ResidencyJobs.jobs(policy.over(Plan.OF_THE_MODEL.get(1).options("cpu")).build(), 50, ResidencyJobs.adapters(folder));
            for (int job = 24; job < 48; job++) {
                assertThat(held.get(job).workspaceBytes()).as("%s, workspaces after job %d and 12 jobs before", policy, job + 1)
                        .isEqualTo(held.get(job - 12).workspaceBytes());
            }
            assertThat((double) held.get(47).outsideOfTheHeap() - held.get(23).outsideOfTheHeap()).as("%s, memory outside of the heap after job 48 and 24", policy)
                    .isLessThan(0.01 * held.get(23).process().anonymous());
        }
    }

    /** A backend whose loader fails when {@code loads} has counted down to 0. */
    private static Backend failing(Backend backend, AtomicInteger loads) {
        return proxy(Backend.class, backend, (name, result) -> name.equals("stagingLoader")
                ? ((Optional<?>) result).map(loader -> proxy(StagingLoader.class, (StagingLoader) loader, (operation, value) -> {
                    if (operation.equals("load") && loads.get() != Integer.MIN_VALUE && loads.decrementAndGet() == 0) {
                        throw new IllegalStateException("the disk went away");
                    }
                    return value;
                })) : result);
    }

    private interface After {
        Object seen(String name, Object result);
    }

    private static <T> T proxy(Class<T> type, T target, After after) {
        return type.cast(Proxy.newProxyInstance(ResidencyTest.class.getClassLoader(), new Class<?>[] {type}, (_, method, arguments) -> {
            try {
                return after.seen(method.getName(), method.invoke(target, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }
}
