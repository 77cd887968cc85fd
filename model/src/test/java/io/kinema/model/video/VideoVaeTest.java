package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.GoldenCase;
import io.kinema.model.TinyWeights;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class VideoVaeTest {
    private static final Tiling SMALL = new Tiling(16, 12, 8, 4);

    private final Backend backend = new ReferenceBackend();
    private final MemoryTensors weights = TinyVideoVae.weights(DType.F32);
    private final VideoVae vae = VideoVae.open(backend, weights, TinyVideoVae.CONFIG);
    private final Workspace memory = backend.workspace("test");

    @AfterEach
    void close() {
        memory.close();
        vae.close();
        weights.close();
        backend.close();
    }

    private static Tensor random(long seed, long... dims) {
        int n = 1;
        for (long d : dims) {
            n *= (int) d;
        }
        Random random = new Random(seed);
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(values, dims);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 6, 8, 9})
    void framesThatStreamOutAreBitwiseThoseOfTheWhole(int latentFrames) {
        Tensor latents = random(1, 2, latentFrames, 6, 7);
        CodingOptions options = CodingOptions.RELEASED.withTiling(SMALL);
        float[] whole = vae.decode(latents, options, memory).toFloats();
        float[] streamed = new float[whole.length];
        AtomicInteger next = new AtomicInteger();
        int plane = 24 * 28;
        int frames = whole.length / 3 / plane;
        vae.decode(latents, options, (first, part) -> {
            assertThat(first).isEqualTo(next.getAndAdd(part.size(1)));
            for (int c = 0; c < 3; c++) {
                System.arraycopy(part.select(0, c).toFloats(), 0, streamed, (c * frames + first) * plane, part.size(1) * plane);
            }
        });
        assertThat(next).hasValue(frames).hasValue(TinyVideoVae.CONFIG.timing().frames(latentFrames));
        assertThat(streamed).isEqualTo(whole);
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void tilesDecodedTogetherHaveTheBitsOfTilesOneByOne(Precision plan) {
        Tensor latents = random(20, 2, 5, 6, 7);
        CodingOptions options = CodingOptions.RELEASED.withTiling(SMALL);
        float[] oneByOne = decode(backend, plan, latents, options);
        for (int rows : new int[] {60, 100, 10_000}) {
            assertThat(decode(together(backend, rows), plan, latents, options)).isEqualTo(oneByOne);
        }
    }

    private float[] decode(Backend other, Precision plan, Tensor latents, CodingOptions options) {
        try (VideoVae decoder = VideoVae.open(other, weights, TinyVideoVae.CONFIG, plan, EnumSet.of(AutoencoderPart.DECODER))) {
            return decoder.decode(latents, options, memory).toFloats();
        }
    }

    /** The same backend, which wants so many rows at once. */
    private static Backend together(Backend backend, long rows) {
        return (Backend) Proxy.newProxyInstance(VideoVaeTest.class.getClassLoader(), new Class<?>[] {Backend.class},
                (_, method, arguments) -> method.getName().equals("rowsTogether") ? (Object) rows : method.invoke(backend, arguments));
    }

    @Test
    void tilesAreSharedOutEvenly() {
        assertThat(TileRounds.tilesTogether(0, 1797, 28)).isEqualTo(1);
        assertThat(TileRounds.tilesTogether(132 * 192, 1797, 28)).isEqualTo(14);
        assertThat(TileRounds.tilesTogether(80 * 192, 1797, 28)).isEqualTo(7);
        assertThat(TileRounds.tilesTogether(1 << 30, 1797, 28)).isEqualTo(28);
        assertThat(TileRounds.tilesTogether(9 * 50, 50, 10)).isEqualTo(5);
    }

    @Test
    void aChunkDependsOnNoLaterChunk() {
        Tensor latents = random(2, 2, 8, 3, 3);
        float[] all = vae.decode(latents, CodingOptions.RELEASED, memory).select(0, 0).rows(0, 5).toFloats();
        float[] start = vae.decode(latents.slice(1, 0, 5), CodingOptions.RELEASED, memory).select(0, 0).rows(0, 5).toFloats();
        assertThat(all).isEqualTo(start);
    }

    @Test
    void reportsEveryTileOfEveryChunkInOrder() {
        List<TileListener.Progress> seen = new ArrayList<>();
        vae.decode(random(3, 2, 8, 6, 7), CodingOptions.RELEASED.withTiling(SMALL).withListener(seen::add), memory);
        assertThat(seen).hasSize(2 * 2 * 3).startsWith(new TileListener.Progress(1, 2, 1, 6)).endsWith(new TileListener.Progress(2, 2, 6, 6));
        assertThat(seen).extracting(TileListener.Progress::fraction).isSorted().startsWith(0.0);
    }

    @Test
    void cancellingBetweenTilesStopsAtOnceAndLeavesTheVaeUsable() {
        AtomicInteger tiles = new AtomicInteger();
        TileListener third = progress -> {
            if (tiles.incrementAndGet() == 3) {
                throw new CancellationException("asked to stop");
            }
        };
        Tensor latents = random(4, 2, 4, 6, 7);
        float[] before = vae.decode(latents, CodingOptions.RELEASED.withTiling(SMALL), memory).toFloats();
        AtomicInteger frames = new AtomicInteger();
        assertThatThrownBy(() -> vae.decode(latents, CodingOptions.RELEASED.withTiling(SMALL).withListener(third), (first, f) -> frames.incrementAndGet()))
                .isInstanceOf(CancellationException.class);
        assertThat(tiles).hasValue(3);
        assertThat(frames).hasValue(0);
        assertThat(vae.decode(latents, CodingOptions.RELEASED.withTiling(SMALL), memory).toFloats()).isEqualTo(before);
    }

    @Test
    void scratchDoesNotGrowWithTheLengthOfTheVideo() {
        vae.decode(random(5, 2, 5, 4, 4), CodingOptions.RELEASED, (first, frames) -> { });
        long few = vae.peakScratchBytes();
        vae.decode(random(5, 2, 20, 4, 4), CodingOptions.RELEASED, (first, frames) -> { });
        assertThat(vae.peakScratchBytes()).isEqualTo(few);
    }

    @Test
    void encodesAClipAtATimeAndRepeatsTheLastFrame() {
        Tensor pixels = random(6, 3, 7, 8, 12);
        Tensor filled = memory.f32(3, 10, 8, 12);
        for (int t = 0; t < 10; t++) {
            backend.copy(pixels.select(1, Math.min(t, 6)), filled.select(1, t));
        }
        Tensor moments = vae.encode(FrameSource.of(backend, pixels), CodingOptions.RELEASED, memory);
        assertThat(moments.shape().toArray()).containsExactly(4, 5, 2, 3);
        assertThat(moments.toFloats()).isEqualTo(vae.encode(FrameSource.of(backend, filled), CodingOptions.RELEASED, memory).toFloats());
        Tensor firstClip = vae.encode(FrameSource.of(backend, pixels.slice(1, 0, 5)), CodingOptions.RELEASED, memory);
        assertThat(moments.slice(1, 0, 2).toFloats()).isEqualTo(firstClip.toFloats());
    }

    @Test
    void aPictureIsOneLatentFrameAndNotAStillClip() {
        Tensor picture = random(7, 3, 1, 8, 8);
        Tensor moments = vae.encode(FrameSource.of(backend, picture), CodingOptions.RELEASED, memory);
        assertThat(moments.shape().toArray()).containsExactly(4, 1, 2, 2);
    }

    @Test
    void refusesWhatItCannotCode() {
        assertThatThrownBy(() -> vae.decode(random(8, 2, 2, 3, 3), CodingOptions.RELEASED, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("got 2 latent frames, expected at least 3");
        assertThatThrownBy(() -> vae.decode(random(8, 3, 4, 3, 3), CodingOptions.RELEASED, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected [2, frames, height, width]");
        assertThatThrownBy(() -> vae.encode(FrameSource.of(backend, random(8, 3, 1, 8, 10)), CodingOptions.RELEASED, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("width 10, expected a multiple of 4 of at least 8");
        assertThatThrownBy(() -> vae.encode(FrameSource.of(backend, random(8, 3, 1, 4, 8)), CodingOptions.RELEASED, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("height 4");
    }

    @Test
    void aHalfThatWasNotLoadedCannotBeUsed() {
        try (VideoVae decoderOnly = VideoVae.open(backend, weights, TinyVideoVae.CONFIG, Precision.FP32, EnumSet.of(AutoencoderPart.DECODER))) {
            assertThatThrownBy(() -> decoderOnly.encode(FrameSource.of(backend, random(9, 3, 1, 8, 8)), CodingOptions.RELEASED, memory))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("encoder was not loaded");
        }
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"F64", "F16", "BF16"})
    void weightsMayBeStoredInAnyFloatType(DType dtype) {
        Tensor latents = random(10, 2, 4, 3, 3);
        Tensor picture = random(11, 3, 1, 8, 8);
        float[] expected = vae.decode(latents, CodingOptions.RELEASED, memory).toFloats();
        try (MemoryTensors other = TinyVideoVae.weights(dtype); VideoVae stored = VideoVae.open(backend, other, TinyVideoVae.CONFIG)) {
            Tensor got = stored.decode(latents, CodingOptions.RELEASED, memory);
            double limit = dtype == DType.F64 ? 0 : dtype == DType.F16 ? 3e-3 : 3e-2;
            assertThat(GoldenCase.relativeL2(got, Tensor.ofFloats(expected, got.shape().toArray()))).isLessThanOrEqualTo(limit);
            assertThat(stored.encode(FrameSource.of(backend, picture), CodingOptions.RELEASED, memory).size(1)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void everyPrecisionPlanDecodesNearFp32(Precision plan) {
        Tensor latents = random(12, 2, 4, 3, 3);
        Tensor expected = vae.decode(latents, CodingOptions.RELEASED, memory);
        try (VideoVae other = VideoVae.open(backend, weights, TinyVideoVae.CONFIG, plan, AutoencoderPart.both())) {
            double limit = switch (plan) {
                case FP32 -> 0;
                case FP16_FP32RES -> 3e-3;
                case BF16_FP32RES -> 3e-2;
            };
            assertThat(GoldenCase.relativeL2(other.decode(latents, CodingOptions.RELEASED, memory), expected)).isLessThanOrEqualTo(limit);
        }
    }

    @Test
    void namesATensorThatIsMissingOrOfAnotherShape() {
        try (MemoryTensors none = new TinyWeights("nothing", 1, DType.F32).normal("encoder.conv_in.weight", 0, 1, 4, 3, 1, 1, 1).build()) {
            assertThatThrownBy(() -> VideoVae.open(backend, none, TinyVideoVae.CONFIG)).isInstanceOf(BadWeightsException.class)
                    .hasMessageContaining("encoder.conv_in.weight").hasMessageContaining("[4, 3, 3, 3, 3]");
            assertThatThrownBy(() -> VideoVae.open(backend, none, TinyVideoVae.CONFIG, Precision.FP32, EnumSet.of(AutoencoderPart.DECODER)))
                    .isInstanceOf(BadWeightsException.class).hasMessageContaining("post_quant_conv.weight");
        }
    }

    @Test
    void closingTwiceIsHarmlessAndUseAfterCloseIsRefused() {
        vae.close();
        vae.close();
        assertThatThrownBy(() -> vae.decode(random(13, 2, 4, 3, 3), CodingOptions.RELEASED, (first, frames) -> { }))
                .isInstanceOf(IllegalStateException.class);
    }
}
