package io.kinema.engine;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.pipeline.Backends;
import io.kinema.engine.record.ProcessMemory;
import io.kinema.engine.record.RankRecord;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.StagingReport;
import io.kinema.model.load.WeightResidency;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Clips of the bundled model under every policy of weight residency, and many jobs on one engine, on any device: for tests, and as a program
 * that prints both tables. Arguments: {@code DEVICE policies|jobs}, for jobs also how many.
 */
public final class ResidencyJobs {
    private static final String PROMPT = "A red circle bounces across a blue background";

    private ResidencyJobs() {
    }

    /** One way of running. @param layers resident under layer offload */
    public record Policy(Optional<WeightResidency> offload, OptionalInt layers, HostWeights host) {
        /** All combinations that a device has. */
        public static List<Policy> all(String device) {
            List<Policy> all = new ArrayList<>();
            for (HostWeights host : HostWeights.values()) {
                if (host != HostWeights.PINNED || device.startsWith("cuda")) {
                    all.add(new Policy(Optional.empty(), OptionalInt.empty(), host));
                    all.add(new Policy(Optional.of(WeightResidency.COMPONENT), OptionalInt.empty(), host));
                    for (int layers : new int[] {0, 1, 3, 8}) {
                        all.add(new Policy(Optional.of(WeightResidency.LAYER), OptionalInt.of(layers), host));
                    }
                }
            }
            return all;
        }

        public EngineOptions.Builder over(EngineOptions.Builder options) {
            offload.ifPresent(options::weightOffload);
            ResidencyOptions residency = ResidencyOptions.DEFAULTS.withHostWeights(host).withPreparedWeights(PreparedWeightsOptions.of("off"));
            return options.residency(layers.isPresent() ? residency.withResidentLayers(layers.getAsInt()) : residency);
        }

        @Override
        public String toString() {
            return offload.map(WeightResidency::label).orElse("none") + (layers.isPresent() ? " " + layers.getAsInt() : "") + ", " + host.label();
        }
    }

    /** A plan of precision. @param transformer used in place of the model's own */
    public record Plan(Precision precision, Optional<MatrixLayout> layout, Optional<Path> transformer) {
        /** Those that need no other file than the model. */
        public static final List<Plan> OF_THE_MODEL = List.of(new Plan(Precision.FP32, Optional.empty(), Optional.empty()),
                new Plan(Precision.BF16_FP32RES, Optional.empty(), Optional.empty()),
                new Plan(Precision.FP16_FP32RES, Optional.of(MatrixLayout.ROW), Optional.empty()),
                new Plan(Precision.FP16_FP32RES, Optional.of(MatrixLayout.COLUMN), Optional.empty()));

        EngineOptions.Builder options(String device) {
            EngineOptions.Builder options = EngineOptions.builder().device(device).precision(precision);
            layout.ifPresent(options::fp16WeightLayout);
            transformer.ifPresent(options::transformer);
            return options;
        }

        @Override
        public String toString() {
            return precision.label() + layout.map(l -> " " + l.label()).orElse("") + transformer.map(t -> " " + t.getFileName()).orElse("");
        }
    }

    /** A small clip. @param adapters on it */
    public static GenerateRequest request(int width, int height, int steps, List<AdapterUse> adapters) {
        GenerateRequest.Builder request = GenerateRequest.prompt(PROMPT).size(width, height).frames(22).steps(steps).seed(5);
        if (!adapters.isEmpty()) {
            adapters.forEach(request::adapter);
            request.flowShift(9).audioFlowShift(3);
        }
        return request.build();
    }

    /** Hash of a clip's latents, its frames and its sound. */
    public static String digest(Clip clip) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            add(digest, clip.latents().video());
            add(digest, clip.latents().audio());
            for (int i = 0; i < clip.frameCount(); i++) {
                digest.update(clip.frame(i));
            }
            add(digest, clip.left());
            add(digest, clip.right());
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static void add(MessageDigest digest, float[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        digest.update(bytes.array());
    }

    /** What an engine holds after a job. */
    public record Held(long workspaceBytes, ProcessMemory process, long heapBytes) {
        /** Of the process, without Java's heap, which grows and shrinks as it likes. */
        long outsideOfTheHeap() {
            return process.anonymous() - heapBytes;
        }
    }

    /**
     * Runs jobs in turn on one engine and says what it holds after each, the collector's garbage left out.
     *
     * @param adapters files that some of the jobs use
     */
    public static List<Held> jobs(EngineOptions options, int count, List<Path> adapters) {
        List<Held> held = new ArrayList<>();
        Backend backend = Backends.opener(options.device(), options.threads(), options.backend()).get();
        try (H3Engine engine = H3Engine.open(options, backend)) {
            for (int job = 0; job < count; job++) {
                engine.generate(request(job % 2 == 0 ? 128 : 192, job % 3 == 0 ? 192 : 128, 2, inTurn(job, adapters)));
                System.gc();
                held.add(new Held(backend.workspaceBytes(), ProcessMemory.now(), Runtime.getRuntime().totalMemory()));
            }
        }
        return held;
    }

    /** None, the first, the second, both. */
    private static List<AdapterUse> inTurn(int job, List<Path> adapters) {
        List<AdapterUse> uses = new ArrayList<>();
        for (int i = 0; i < adapters.size(); i++) {
            if ((job / 3 >> i & 1) == 1) {
                uses.add(AdapterUse.of(adapters.get(i)).scaled(0.75));
            }
        }
        return uses;
    }

    /** Two random adapters, written into a folder. */
    public static List<Path> adapters(Path folder) {
        return List.of(NanoAdapter.write(folder.resolve("one.safetensors"), "", Map.of("alpha", "4")), NanoAdapter.write(folder.resolve("another.safetensors"), "", Map.of("alpha", "4")));
    }

    /** Prints a table. */
    public static void main(String[] arguments) throws Exception {
        String device = arguments[0];
        Path folder = Files.createTempDirectory("kinema-residency");
        List<Path> adapters = adapters(folder);
        switch (arguments[1]) {
            case "policies" -> {
                for (int plan = 1; plan >= 0; plan--) {
                    policies(device, Plan.OF_THE_MODEL.subList(2 * plan, 2 * plan + 2), adapters.getFirst());
                }
            }
            case "jobs" -> table(device, Integer.parseInt(arguments[2]), adapters);
            default -> throw new IllegalArgumentException("got '" + arguments[1] + "', expected policies or jobs");
        }
    }

    private static void policies(String device, List<Plan> plans, Path adapter) {
        for (Plan plan : plans) {
            for (Policy policy : Policy.all(device)) {
                try (H3Engine engine = H3Engine.open(policy.over(plan.options(device)).build())) {
                    Clip plain = engine.generate(request(256, 256, 4, List.of()));
                    Clip adapted = engine.generate(request(256, 256, 4, List.of(AdapterUse.of(adapter).scaled(0.75))));
                    RankRecord rank = plain.record().ranks().getFirst();
                    StagingReport staging = rank.staging();
                    print("%-22s %-22s %s %s peak device %d, staged %d bytes in %.4f s, stall %.4f s, denoise %.3f s", plan, policy,
                            digest(plain).substring(0, 16), digest(adapted).substring(0, 16), rank.peakDeviceBytes(), staging.stagedBytes(),
                            staging.stagingSeconds(), staging.stallSeconds(), rank.denoiseSeconds());
                }
            }
        }
    }

    private static void table(String device, int count, List<Path> adapters) {
        for (Policy policy : List.of(new Policy(Optional.empty(), OptionalInt.empty(), HostWeights.MMAP),
                new Policy(Optional.of(WeightResidency.COMPONENT), OptionalInt.empty(), HostWeights.MMAP),
                new Policy(Optional.of(WeightResidency.LAYER), OptionalInt.of(1), HostWeights.PAGEABLE))) {
            Plan plan = Plan.OF_THE_MODEL.get(1);
            List<Held> held = jobs(policy.over(plan.options(device)).backend(BackendOptions.DEFAULTS).build(), count, adapters);
            for (int job : new int[] {0, 1, 11, 12, 24, 36, 48, count - 1}) {
                if (job < held.size()) {
                    Held now = held.get(job);
                    print("%-22s job %2d: workspaces %d bytes, resident %d anonymous, %d of files", policy, job + 1, now.workspaceBytes(),
                            now.process().anonymous(), now.process().mappedFiles());
                }
            }
            print("%-22s workspaces after every twelfth job: %s", policy, Arrays.toString(
                    java.util.stream.IntStream.range(0, held.size()).filter(j -> j % 12 == 11).mapToLong(j -> held.get(j).workspaceBytes()).toArray()));
        }
    }

    private static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
