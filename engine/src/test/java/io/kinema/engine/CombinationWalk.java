package io.kinema.engine;

import io.kinema.compute.BackendOptions;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowReduction;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;

/**
 * A random walk through everything that can be combined, on any device: what may not change a bit of a clip changes none, whatever else is
 * chosen. For tests, and as a program. Arguments: {@code DEVICE ENGINES SEED}; ranks on a GPU share it.
 */
public final class CombinationWalk {
    private static final int[] QUERY_TILES = {64, 128, 192};

    private final String device;
    private final Path folder;
    private final long seed;
    private final Random random;
    private final Path int8;
    private final Path adapter;
    private final Path edits;
    private final Path picture;

    /** An adapter beside the weights, or one that is fused with them. */
    enum Adapted { NO, BESIDE, FUSED }

    /** What decides the bits. */
    record Decides(Precision precision, boolean int8, int ranks, Adapted adapted, boolean picture) {
    }

    /**
     * What a walk met.
     *
     * @param engines opened
     * @param digests of the clip that each choice of what decides the bits gave
     */
    public record Met(int engines, Map<Decides, String> digests) {
    }

    /** @param folder for files that the walk writes */
    CombinationWalk(String device, Path folder, long seed) {
        this.device = device;
        this.folder = folder;
        this.seed = seed;
        random = new Random(seed);
        adapter = ResidencyJobs.adapters(folder).getFirst();
        edits = NanoAdapter.writeEditing(folder.resolve("edits.safetensors"));
        int8 = folder.resolve("int8.safetensors");
        Quantizer.quantize(Geometries.NANO, int8, new QuantizeOptions(64, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        picture = folder.resolve("picture.png");
        PngWriter.write(new RgbImage(64, 64, new byte[3 * 64 * 64]), picture);
    }

    /** Every second engine meets again what an earlier one met. @throws IllegalStateException when two clips differ that must not, naming both choices */
    Met walk(int engines) {
        Map<Decides, String> digests = new HashMap<>();
        Map<Decides, EngineOptions> first = new HashMap<>();
        List<Decides> met = new ArrayList<>();
        for (int i = 0; i < engines; i++) {
            Decides decides = i % 2 == 0 ? decides() : met.get(random.nextInt(met.size()));
            met.add(decides);
            EngineOptions options = freely(decides);
            String digest = digest(options, request(decides, 1 + random.nextInt(2)));
            String known = digests.putIfAbsent(decides, digest);
            first.putIfAbsent(decides, options);
            if (known != null && !known.equals(digest)) {
                throw new IllegalStateException("seed " + seed + ", engine " + i + ", " + decides + ": got " + digest + " with " + options + ", expected " + known + " as with "
                        + first.get(decides));
            }
        }
        return new Met(engines, Collections.unmodifiableMap(digests));
    }

    private Decides decides() {
        Adapted adapted = Adapted.values()[random.nextInt(3)];
        // Whole weights are edited of a checkpoint that stores them whole.
        boolean coded = random.nextInt(3) == 0 && adapted != Adapted.FUSED;
        // This adapter was trained for clips from text alone.
        boolean pictured = random.nextInt(4) == 0 && adapted != Adapted.FUSED;
        return new Decides(Precision.values()[random.nextInt(3)], coded, 1 << random.nextInt(3), adapted, pictured);
    }

    /** What decides nothing. */
    private EngineOptions freely(Decides decides) {
        EngineOptions.Builder options = EngineOptions.builder().model(Geometries.NANO).precision(decides.precision());
        boolean gpu = device.startsWith("cuda");
        if (gpu) {
            // Ranks share the one GPU.
            options.device(device + ("," + device.substring("cuda:".length())).repeat(decides.ranks() - 1)).graphReplay(GraphReplay.values()[random.nextInt(2)]);
            OptionalInt tile = random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(QUERY_TILES[random.nextInt(QUERY_TILES.length)]);
            options.backend(new BackendOptions(Optional.empty(), tile, OptionalInt.empty(), OptionalLong.empty()));
        } else {
            options.threads(1 + random.nextInt(4));
        }
        if (decides.int8()) {
            options.transformer(int8);
        }
        boolean shared = random.nextBoolean();
        RowReduction.Mode reduction = shared && random.nextBoolean() ? RowReduction.Mode.PEER : RowReduction.Mode.NATIVE;
        options.ranks(RankOptions.DEFAULTS.withTensorParallel(decides.ranks()).withResidual(new ResidualOptions(shared, reduction, OptionalLong.empty())));
        return residency(options, gpu).build();
    }

    private EngineOptions.Builder residency(EngineOptions.Builder options, boolean gpu) {
        PreparedWeightsOptions prepared = PreparedWeightsOptions.of(random.nextBoolean() ? folder.resolve("prepared").toString() : "off");
        HostWeights[] kinds = gpu ? HostWeights.values() : new HostWeights[] {HostWeights.MMAP, HostWeights.PAGEABLE};
        ResidencyOptions residency = ResidencyOptions.DEFAULTS.withPreparedWeights(prepared).withHostWeights(kinds[random.nextInt(kinds.length)]);
        switch (random.nextInt(3)) {
            case 0 -> options.weightOffload(WeightResidency.COMPONENT);
            case 1 -> {
                options.weightOffload(WeightResidency.LAYER);
                residency = residency.withResidentLayers(random.nextInt(9));
            }
            default -> { }
        }
        return options.residency(residency);
    }

    private GenerateRequest request(Decides decides, int outputs) {
        GenerateRequest.Builder request = GenerateRequest.prompt("A red circle bounces").size(64, 64).frames(22).seed(7).outputs(outputs);
        switch (decides.adapted()) {
            case NO -> request.steps(3).flowShift(9).audioFlowShift(3);
            case BESIDE -> request.steps(3).flowShift(9).audioFlowShift(3).adapter(AdapterUse.of(adapter).scaled(0.75));
            // This kind says itself how many steps it wants.
            case FUSED -> request.adapter(AdapterUse.of(edits));
        }
        if (decides.picture()) {
            request.image(picture);
        }
        return request.build();
    }

    /** Of the first output, made twice by one engine. */
    private String digest(EngineOptions options, GenerateRequest request) {
        try (H3Engine engine = H3Engine.open(options)) {
            List<String> made = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                List<Clip> clips = new ArrayList<>();
                engine.generateEach(request, ProgressListener.NONE, new Cancellation(), clips::add);
                made.add(ResidencyJobs.digest(clips.getFirst()));
            }
            if (!made.getLast().equals(made.getFirst())) {
                throw new IllegalStateException("seed " + seed + ", the second clip of one engine: got " + made.getLast() + ", expected " + made.getFirst() + " with " + options);
            }
            return made.getFirst();
        }
    }

    /** Prints what was met. */
    public static void main(String[] arguments) throws Exception {
        Met met = new CombinationWalk(arguments[0], Files.createTempDirectory("kinema-walk"), Long.parseLong(arguments[2])).walk(Integer.parseInt(arguments[1]));
        met.digests().forEach((decides, digest) -> print("%s %s", digest.substring(0, 16), decides));
        print("%d engines on %s, two clips each, seed %s: %d choices of what decides the bits, each with one digest", met.engines(), arguments[0], arguments[2],
                met.digests().size());
    }

    private static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
