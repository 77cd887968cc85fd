package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the host assumes of flash_hopper.cu is what stands there. */
class FlashHopperTest {
    private static final Path SOURCES = Path.of(System.getProperty("kinema.root")).resolve("cuda/src/main/cuda");
    private static final Pattern KERNEL = Pattern.compile("FLASH\\(b?f16, B?F16, (\\d+), (\\d+), (\\d), (\\d+)\\)");
    private static final int MOST_SHARED_BYTES = 227 << 10;

    @Test
    void tilesAndSharedMemoryAreTheKernels() throws IOException {
        String items = Files.readString(SOURCES.resolve("flash_items.cuh"));
        assertThat(items).contains("constexpr int STAGES = " + FlashHopper.STAGES + ";", "ROOMS = WIDTH == 64 ? 2 : 1;",
                "QUERIES_EMPTY = 4 * STAGES + 2 }");
        List<MatchResult> kernels = KERNEL.matcher(Files.readString(SOURCES.resolve("flash_hopper.cu"))).results().toList();
        assertThat(kernels).hasSize(12).allSatisfy(kernel -> {
            int channels = number(kernel, 1);
            int keys = number(kernel, 2);
            int tile = number(kernel, 4);
            assertThat(FlashHopper.keysOfTile(channels)).isEqualTo(keys);
            assertThat(tile).isEqualTo(64 * number(kernel, 3));
            int tiles = (channels == 64 ? 2 * tile : tile) * channels * 2 + 2 * FlashHopper.STAGES * keys * channels * 2;
            int barriers = 8 * (4 * FlashHopper.STAGES + 4);
            assertThat(FlashHopper.sharedBytes(channels, tile)).isEqualTo(tiles + barriers + 1024).isLessThanOrEqualTo(MOST_SHARED_BYTES);
        });
    }

    private static int number(MatchResult kernel, int group) {
        return Integer.parseInt(kernel.group(group));
    }
}
