package io.kinema.measure.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.model.video.VideoVaeTensors;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DecodingWorkTest {
    private final VideoVaeConfig config = VideoVaeConfig.read(
            ModelFolder.open(Path.of(System.getProperty("kinema.root"), "models", "h3-released-sizes")).config(Component.VIDEO_VAE));

    @Test
    void theReleasedClipIs196TilesOf1797Rows() {
        DecodingWork work = DecodingWork.of(config, 37, 736, 1280);
        assertThat(work.tiles()).isEqualTo(7 * 4 * 7);
        assertThat(work.rowsOfTile()).isEqualTo(7 * 16 * 16 + 4 + 1);
        // 4 x 2048^2 for attention's matrices, 2 x 8192 x 2048 and 2048 x 8192 for the feed-forward's, 36 times.
        assertThat(work.scoreFlops()).isEqualTo(196.0 * 36 * 4 * 1797 * 1797 * 2048);
        assertThat(work.productFlops()).isBetween(196.0 * 36 * 2 * 1797 * 67_108_864, 1.003 * 196 * 36 * 2 * 1797 * 67_108_864);
    }

    @Test
    void itsWeightsAreTheMatricesOfTheInventory() {
        long matrices = VideoVaeTensors.of(config).entries().stream()
                .filter(e -> e.name().startsWith("decoder.") || e.name().startsWith("post_quant_conv"))
                .filter(e -> e.shape().rank() >= 2 && !e.name().contains("register"))
                .mapToLong(e -> e.shape().elements()).sum();
        assertThat(DecodingWork.of(config, 37, 736, 1280).weightValues()).isEqualTo(matrices);
    }
}
