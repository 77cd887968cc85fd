package io.kinema.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.Geometries;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFolderTest {
    @TempDir
    private Path temp;

    @Test
    void readsTheBundledModel() {
        ModelFolder model = ModelFolder.open(Geometries.NANO);
        assertThat(model.geometry().canvasMultiple()).isEqualTo(32);
        assertThat(model.geometry().counts()).isEqualTo(FrameCounts.RELEASED);
        assertThat(model.geometry().audioHop()).isEqualTo(800);
        assertThat(model.geometry().limits().minSeconds()).isZero();
        // The index sends both partitions to one folder.
        assertThat(model.folder(Component.TRANSFORMER_REF)).isEqualTo(model.folder(Component.TRANSFORMER));
    }

    @Test
    void aModelWithTheReleasedCanvasHasTheReleasedLimits() {
        ModelGeometry geometry = ModelFolder.open(Geometries.TINY).geometry();
        assertThat(geometry.canvasShortEdge()).isEqualTo(768);
        assertThat(geometry.limits()).isEqualTo(ModelGeometry.Limits.RELEASED);
        assertThat(geometry.latentChannels()).isEqualTo(8);
    }

    @Test
    void findsTheBundledModelFromItsOwnClasses() {
        assertThat(BundledModel.folder()).exists();
    }

    @Test
    void saysWhatIsNoModel() throws IOException {
        refuses(temp.resolve("nothing"), "no such folder");
        refuses(Files.writeString(temp.resolve("file"), "x"), "got a file");
        refuses(temp, "not a model folder");
        Files.writeString(temp.resolve("model_index.json"), "{}");
        refuses(temp, "lists no text_encoder");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{\"a\":", "7", "\0\0\0\0"})
    void saysWhatIsNoIndex(String text) throws IOException {
        Files.writeString(temp.resolve("model_index.json"), text);
        refuses(temp, "model_index.json");
    }

    @Test
    void aComponentOutsideTheFolderIsRefused() throws IOException {
        copyNano();
        Path index = temp.resolve("model_index.json");
        Files.writeString(index, Files.readString(index).replace("\"subfolder\": \"vae\"", "\"subfolder\": \"../../vae\""));
        refuses(temp, "expected one inside the model folder");
    }

    @Test
    void aMissingConfigIsNamed() throws IOException {
        copyNano();
        Files.delete(temp.resolve("vae/config.json"));
        refuses(temp, "vae/config.json");
    }

    private void refuses(Path folder, String what) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> ModelFolder.open(folder))
                .withMessageContaining(what).satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
    }

    private void copyNano() throws IOException {
        try (Stream<Path> files = Files.walk(Geometries.NANO)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".json")).toList()) {
                Path to = temp.resolve(Geometries.NANO.relativize(file).toString());
                Files.createDirectories(to.getParent());
                Files.copy(file, to);
            }
        }
    }
}
