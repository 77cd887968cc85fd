package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowReduction;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A random walk through everything that can be combined: what may not change a bit of a clip changes none, whatever else is chosen. */
@Tag("long")
class CombinationsTest {
    private static final int ENGINES = 120;

    @TempDir
    private Path folder;

    /** What decides the bits. */
    private record Decides(Precision precision, boolean int8, int ranks, boolean adapted, boolean picture) {
    }

    @Test
    void whatDecidesNoBitsChangesNone() {
        Path adapter = ResidencyJobs.adapters(folder).getFirst();
        Path int8 = folder.resolve("int8.safetensors");
        Quantizer.quantize(Geometries.NANO, int8, new QuantizeOptions(64, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        Path picture = folder.resolve("picture.png");
        PngWriter.write(new RgbImage(64, 64, new byte[3 * 64 * 64]), picture);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<Decides, String> digests = new HashMap<>();
        for (int i = 0; i < ENGINES; i++) {
            Decides decides = new Decides(Precision.values()[random.nextInt(3)], random.nextInt(3) == 0, 1 << random.nextInt(3), random.nextBoolean(), random.nextInt(4) == 0);
            EngineOptions.Builder options = freely(random).precision(decides.precision());
            if (decides.int8()) {
                options.transformer(int8);
            }
            ResidualOptions residual = new ResidualOptions(random.nextBoolean(), RowReduction.Mode.values()[random.nextInt(2)], OptionalLong.empty());
            options.ranks(RankOptions.DEFAULTS.withTensorParallel(decides.ranks()).withResidual(residual.sequenceParallel() ? residual : ResidualOptions.DEFAULTS));
            String digest = digest(options.build(), request(decides, adapter, picture, 1 + random.nextInt(2)));
            assertThat(digest).as("seed %d, engine %d: %s, %s", seed, i, decides, options.build()).isEqualTo(digests.getOrDefault(decides, digest));
            digests.put(decides, digest);
        }
        assertThat(digests.size()).isLessThan(ENGINES);
    }

    /** What decides nothing, but for ranks' rows. */
    private EngineOptions.Builder freely(Random random) {
        EngineOptions.Builder options = EngineOptions.builder().model(Geometries.NANO).threads(1 + random.nextInt(4));
        PreparedWeightsOptions prepared = random.nextBoolean() ? PreparedWeightsOptions.of(folder.resolve("prepared").toString()) : PreparedWeightsOptions.of("off");
        ResidencyOptions residency = ResidencyOptions.DEFAULTS.withPreparedWeights(prepared).withHostWeights(random.nextBoolean() ? HostWeights.MMAP : HostWeights.PAGEABLE);
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

    private static GenerateRequest request(Decides decides, Path adapter, Path picture, int outputs) {
        GenerateRequest.Builder request = GenerateRequest.prompt("A red circle bounces").size(64, 64).frames(22).steps(3).seed(7).outputs(outputs).flowShift(9).audioFlowShift(3);
        if (decides.adapted()) {
            request.adapter(AdapterUse.of(adapter).scaled(0.75));
        }
        if (decides.picture()) {
            request.image(picture);
        }
        return request.build();
    }

    /** Of the first output, made twice by one engine. */
    private static String digest(EngineOptions options, GenerateRequest request) {
        try (H3Engine engine = H3Engine.open(options)) {
            List<String> first = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                List<Clip> clips = new ArrayList<>();
                engine.generateEach(request, ProgressListener.NONE, new Cancellation(), clips::add);
                first.add(ResidencyJobs.digest(clips.getFirst()));
            }
            assertThat(first.getLast()).as("the second of one engine, %s", options).isEqualTo(first.getFirst());
            return first.getFirst();
        }
    }
}
