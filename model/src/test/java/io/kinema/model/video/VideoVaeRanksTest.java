package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Traffic;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.AutoencoderPart;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks code a tile each: whatever their number and that of the tiles, the bits are those of one rank. */
class VideoVaeRanksTest {
    /** Six tiles over 24 x 28 pixels. */
    private static final CodingOptions SIX = CodingOptions.RELEASED.withTiling(new Tiling(16, 12, 8, 4));

    private final MemoryTensors weights = TinyVideoVae.weights(DType.F32);
    private final Backend backend = CpuBackend.open(1);
    private final VideoVae one = VideoVae.open(backend, weights, TinyVideoVae.CONFIG, Precision.FP16_FP32RES, AutoencoderPart.both());
    private final Workspace memory = backend.workspace("test");

    @AfterEach
    void close() {
        memory.close();
        one.close();
        backend.close();
        weights.close();
    }

    private static BackendGroup ranks(int n) {
        return BackendGroup.of(IntStream.range(0, n).<Backend>mapToObj(_ -> CpuBackend.open(1)).toList(), Duration.ofMinutes(10));
    }

    private VideoVae open(BackendGroup group) {
        return VideoVae.open(group, weights, TinyVideoVae.CONFIG, Precision.FP16_FP32RES, AutoencoderPart.both());
    }

    private static Tensor random(long... dims) {
        Random random = new Random(dims[1]);
        float[] values = new float[(int) (dims[0] * dims[1] * dims[2] * dims[3])];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(values, dims);
    }

    /** Six tiles a chunk, or one: then there are fewer tiles than ranks and a round takes those of several chunks, of which the last may be alone. */
    @ParameterizedTest
    @CsvSource({"1, 4, true", "2, 4, true", "3, 9, true", "4, 9, true", "5, 4, true", "8, 9, true", "2, 3, false", "2, 9, false", "4, 20, false", "3, 8, false"})
    void decodingHasTheBitsOfOneRank(int ranks, int latentFrames, boolean tiled) {
        CodingOptions options = tiled ? SIX : CodingOptions.RELEASED;
        Tensor latents = random(2, latentFrames, 6, 7);
        float[] expected = one.decode(latents, options, memory).toFloats();
        try (BackendGroup group = ranks(ranks); VideoVae vae = open(group)) {
            List<TileListener.Progress> seen = new ArrayList<>();
            List<Integer> firsts = new ArrayList<>();
            assertThat(vae.decode(latents, options.withListener(seen::add), memory).toFloats()).isEqualTo(expected);
            vae.decode(latents, options, (first, _) -> firsts.add(first));
            assertThat(firsts).isSorted().doesNotHaveDuplicates();
            assertThat(seen).as("every tile, in order").extracting(TileListener.Progress::fraction).isSorted().doesNotHaveDuplicates();
            assertThat(group.traffic()).as("tiles are added up by nobody").containsOnly(Traffic.NONE);
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 1, true", "4, 1, false", "3, 7, true", "4, 16, true", "4, 16, false", "8, 1, true"})
    void encodingHasTheBitsOfOneRank(int ranks, int frames, boolean tiled) {
        CodingOptions options = tiled ? SIX : CodingOptions.RELEASED;
        Tensor pixels = random(3, frames, 24, 28);
        float[] expected = one.encode(FrameSource.of(backend, pixels), options, memory).toFloats();
        try (BackendGroup group = ranks(ranks); VideoVae vae = open(group)) {
            assertThat(vae.encode(FrameSource.of(group.backends().getFirst(), pixels), options, memory).toFloats()).isEqualTo(expected);
        }
    }

    @Test
    void cancellingBetweenTilesEndsAllRanksAndLeavesThemUsable() {
        Tensor latents = random(2, 4, 6, 7);
        float[] expected = one.decode(latents, SIX, memory).toFloats();
        try (BackendGroup group = ranks(2); VideoVae vae = open(group)) {
            TileListener fourth = progress -> {
                if (progress.tile() == 4) {
                    throw new CancellationException("asked to stop");
                }
            };
            assertThatThrownBy(() -> vae.decode(latents, SIX.withListener(fourth), (_, _) -> { })).isInstanceOf(CancellationException.class);
            assertThat(vae.decode(latents, SIX, memory).toFloats()).isEqualTo(expected);
        }
    }

    /** A tap sees one tile after the other, so the first rank codes them all. */
    @Test
    void aTapSeesTheTilesInOrder() {
        Tensor latents = random(2, 4, 6, 7);
        List<String> expected = new ArrayList<>();
        one.decode(latents, SIX.withTap((name, _) -> expected.add(name)), memory);
        try (BackendGroup group = ranks(3); VideoVae vae = open(group)) {
            List<String> seen = new ArrayList<>();
            vae.decode(latents, SIX.withTap((name, _) -> seen.add(name)), memory);
            assertThat(seen).isEqualTo(expected).isNotEmpty();
        }
    }
}
