package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileHashesTest {
    /** SHA-256 of "abc", from the standard's examples. */
    private static final String ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    @TempDir
    private Path folder;

    @Test
    void aHashIsKeptForTheNextProcess() throws IOException {
        Path file = Files.writeString(folder.resolve("a file.jar"), "abc");
        Path kept = folder.resolve("cache/hashes.txt");
        assertThat(new FileHashes(kept).sha256(file)).isEqualTo(ABC);
        assertThat(kept).content().startsWith(ABC + " 3 ").endsWith("a file.jar\n");
        Files.writeString(kept, Files.readString(kept).replace(ABC, "0".repeat(64)));
        assertThat(new FileHashes(kept).sha256(file)).as("what is kept is taken").isEqualTo("0".repeat(64));
    }

    @Test
    void anotherSizeOrTimeIsReadAgain() throws IOException {
        Path file = Files.writeString(folder.resolve("file.jar"), "xyz");
        FileHashes hashes = new FileHashes(folder.resolve("hashes.txt"));
        String before = hashes.sha256(file);
        Files.writeString(file, "abc");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1000));
        assertThat(hashes.sha256(file)).isEqualTo(ABC).isNotEqualTo(before);
    }

    @Test
    void whatIsKeptMayBeDamagedOrUnwritable() throws IOException {
        Path file = Files.writeString(folder.resolve("file.jar"), "abc");
        Path kept = Files.writeString(folder.resolve("hashes.txt"), "nonsense\n" + "f".repeat(64) + " 3\n");
        assertThat(new FileHashes(kept).sha256(file)).isEqualTo(ABC);
        assertThat(new FileHashes(file.resolve("below a file/hashes.txt")).sha256(file)).isEqualTo(ABC);
    }

    @Test
    void anInstallationIsItsContentWhateverTheOrderAndTheFolder() throws IOException {
        Path one = Files.createDirectories(folder.resolve("one"));
        Path two = Files.createDirectories(folder.resolve("two"));
        for (Path lib : java.util.List.of(one, two)) {
            Files.writeString(lib.resolve("a.jar"), "a");
            Files.writeString(lib.resolve("b.jar"), "b");
        }
        String code = Installation.code(one.resolve("a.jar") + java.io.File.pathSeparator + one.resolve("b.jar"));
        assertThat(Installation.code(two.resolve("b.jar") + java.io.File.pathSeparator + two.resolve("a.jar"))).isEqualTo(code).hasSize(64);
        Files.writeString(two.resolve("b.jar"), "another b");
        assertThat(Installation.code(two.resolve("b.jar") + java.io.File.pathSeparator + two.resolve("a.jar"))).isNotEqualTo(code);
    }
}
