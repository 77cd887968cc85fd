package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointIdentityTest {
    @TempDir
    Path folder;

    @Test
    void isTheHashOfTheSortedListOfHashes() throws IOException {
        Files.createDirectory(folder.resolve("vae"));
        Files.writeString(folder.resolve("vae/config.json"), "abc");
        Files.writeString(folder.resolve("README.md"), "does not count");
        CheckpointIdentity id = CheckpointIdentity.of(folder);
        String abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assertThat(id.files()).containsExactly(new CheckpointIdentity.FileHash("vae/config.json", 3, abc));
        Path list = Files.writeString(folder.resolve("list"), abc + "  vae/config.json\n");
        assertThat(id.sha256()).isEqualTo(CheckpointIdentity.sha256(list));
    }

    @Test
    void changesWithContentAndNamesButNotWithTheFolder() throws IOException {
        Path a = Files.createDirectory(folder.resolve("a"));
        Path b = Files.createDirectory(folder.resolve("b"));
        for (Path p : new Path[] {a, b}) {
            RawSafetensors.pair(p.resolve("m.safetensors"), "x");
            Files.writeString(p.resolve("config.json"), "{}");
        }
        String before = CheckpointIdentity.of(a).sha256();
        assertThat(CheckpointIdentity.of(b).sha256()).isEqualTo(before);
        assertThat(CheckpointIdentity.of(a).sha256()).as("cached").isEqualTo(before);
        Files.writeString(b.resolve("config.json"), "[]");
        Files.setLastModifiedTime(b.resolve("config.json"), FileTime.fromMillis(1));
        assertThat(CheckpointIdentity.of(b).sha256()).isNotEqualTo(before);
        Files.move(a.resolve("config.json"), a.resolve("config2.json"));
        assertThat(CheckpointIdentity.of(a).sha256()).isNotEqualTo(before);
    }

    /** As archives and copies that keep times leave it. */
    @Test
    void anotherFileOfTheSameSizeAndTimeIsReadAgain() throws IOException {
        Path file = Files.writeString(folder.resolve("config.json"), "one");
        FileTime time = Files.getLastModifiedTime(file);
        String before = CheckpointIdentity.of(file).sha256();
        Files.writeString(file, "two");
        Files.setLastModifiedTime(file, time);
        String rewritten = CheckpointIdentity.of(file).sha256();
        Path other = Files.writeString(folder.resolve("other.json"), "six");
        Files.setLastModifiedTime(other, time);
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        assertThat(CheckpointIdentity.of(file).sha256()).isNotEqualTo(rewritten).isNotEqualTo(before);
        assertThat(rewritten).isNotEqualTo(before);
    }

    @Test
    void refusesWhatIsNotThere() {
        assertThatThrownBy(() -> CheckpointIdentity.of(folder.resolve("no"))).isInstanceOf(BadWeightsException.class).hasMessageContaining("cannot be read for hashing");
    }
}
