package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckpointTest {
    @TempDir
    Path folder;

    @Test
    void opensAFileAFolderWithOneFileAndShards() throws IOException {
        Path file = RawSafetensors.pair(folder.resolve("model.safetensors"), "a");
        for (Path p : new Path[] {file, folder}) {
            try (Checkpoint c = Checkpoint.open(p)) {
                assertThat(c.names()).containsExactly("a");
                assertThat(c.origin()).isEqualTo(p.toString());
                assertThat(c.files()).containsExactly(file);
            }
        }
    }

    @Test
    void opensShardsInTheOrderOfTheIndex() throws IOException {
        twoShards("m-1.safetensors", "m-2.safetensors");
        try (Checkpoint c = Checkpoint.open(folder)) {
            assertThat(c.names()).containsExactly("b", "a");
            assertThat(c.get("a").file()).hasFileName("m-1.safetensors");
            MemorySegment data = c.get("b").data();
            c.close();
            assertThatThrownBy(() -> data.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        }
        try (Checkpoint c = Checkpoint.open(folder.resolve("m.safetensors.index.json"))) {
            assertThat(c.names()).hasSize(2);
        }
    }

    /** Field report 23: names that leave the folder. */
    @ParameterizedTest
    @ValueSource(strings = {"../m-1.safetensors", "/etc/passwd", "/m.safetensors", "x/../../m.safetensors", "..\\\\m.safetensors", "m.bin", "", "a\\u0000.safetensors"})
    void report23RefusesShardNamesThatLeaveTheFolder(String name) throws IOException {
        RawSafetensors.pair(folder.resolve("m-2.safetensors"), "b");
        index("{\"weight_map\":{\"a\":\"" + name + "\",\"b\":\"m-2.safetensors\"}}");
        refuses("m.safetensors.index.json: tensor a: got shard name", "inside the folder");
    }

    @Test
    void refusesALinkOutOfTheFolderButReadsAHubCachesBlobs() throws IOException {
        Path blobs = Files.createDirectory(folder.resolve("blobs"));
        Path model = Files.createDirectory(folder.resolve("model"));
        RawSafetensors.pair(blobs.resolve("1234"), "a");
        Files.createSymbolicLink(model.resolve("m-1.safetensors"), Path.of("../blobs/1234"));
        Path index = Files.writeString(model.resolve("m.safetensors.index.json"), "{\"weight_map\":{\"a\":\"m-1.safetensors\"}}");
        assertThatThrownBy(() -> Checkpoint.open(model)).isInstanceOf(BadWeightsException.class).hasMessageContainingAll("m-1.safetensors", "links to");
        Files.move(index, blobs.resolve("5678"));
        Files.createSymbolicLink(index, Path.of("../blobs/5678"));
        try (Checkpoint c = Checkpoint.open(model)) {
            assertThat(c.names()).containsExactly("a");
        }
    }

    @Test
    void refusesAMissingShardByName() throws IOException {
        twoShards("m-1.safetensors", "m-2.safetensors");
        Files.delete(folder.resolve("m-2.safetensors"));
        refuses("m.safetensors.index.json", "shard m-2.safetensors is missing");
    }

    /** Field report 15: half-downloaded weights. */
    @Test
    void report15RefusesUnfinishedShards() throws IOException {
        twoShards("m-1.safetensors", "m-2.safetensors");
        Path whole = folder.resolve("m-2.safetensors");
        Path part = Files.copy(whole, folder.resolve("m-2.safetensors.incomplete"));
        Checkpoint.open(folder).close();
        Files.delete(whole);
        refuses(part.toString(), "unfinished download");
        Files.delete(folder.resolve("m.safetensors.index.json"));
        refuses(part.toString(), "unfinished download");
    }

    @Test
    void refusesATensorThatItsShardDoesNotHold() throws IOException {
        RawSafetensors.pair(folder.resolve("m-1.safetensors"), "other");
        index("{\"weight_map\":{\"a\":\"m-1.safetensors\"}}");
        refuses("m-1.safetensors: tensor a is not in this shard");
    }

    @Test
    void refusesATensorInTwoShards() throws IOException {
        RawSafetensors.pair(folder.resolve("m-1.safetensors"), "a");
        RawSafetensors.write(folder.resolve("m-2.safetensors"), """
                {"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}""", 2);
        index("{\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\"}}");
        refuses("tensor a is also in", "m-1.safetensors", "m-2.safetensors");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{}", "{\"weight_map\":[]}", "{\"weight_map\":{\"a\":1}}", "{\"weight_map\":{\"a\":\"m-1.safetensors\"",
            "{\"weight_map\":{\"a\":\"m-1.safetensors\",\"a\":\"m-1.safetensors\"}}", "{\"weight_map\":{},\"weight_map\":{}}"})
    void refusesBrokenIndexes(String json) throws IOException {
        RawSafetensors.pair(folder.resolve("m-1.safetensors"), "a");
        index(json);
        refuses("m.safetensors.index.json");
    }

    @Test
    void refusesFoldersThatDoNotSayWhichWeights() throws IOException {
        refuses("got 0 index files and 0 .safetensors files", "not a folder of weights");
        RawSafetensors.pair(folder.resolve("x.safetensors"), "a");
        RawSafetensors.pair(folder.resolve("y.safetensors"), "a");
        refuses("got 0 index files and 2 .safetensors files", "name the file to use");
        assertThatThrownBy(() -> Checkpoint.open(folder.resolve("absent"))).isInstanceOf(BadWeightsException.class).hasMessageContaining("no such file");
    }

    private void twoShards(String first, String second) throws IOException {
        RawSafetensors.pair(folder.resolve(first), "a");
        RawSafetensors.pair(folder.resolve(second), "b");
        index("{\"metadata\":{\"total_size\":16,\"deep\":{\"x\":[1]}},\"weight_map\":{\"b\":\"" + second + "\",\"a\":\"" + first + "\"}}");
    }

    private void index(String json) throws IOException {
        Files.writeString(folder.resolve("m.safetensors.index.json"), json);
    }

    private void refuses(String... parts) {
        assertThatThrownBy(() -> Checkpoint.open(folder)).isInstanceOf(BadWeightsException.class)
                .hasMessageContainingAll(parts).hasMessageNotContaining("\n");
    }
}
