package io.kinema.media.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.kinema.media.BadMediaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AtomicFileTest {

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"plain.txt", "with space.txt", "quote'\"s.txt", "%percent$.txt", "-dash.txt"})
    void putsTheFileInPlaceOnCommit(String name) throws IOException {
        Path target = folder.resolve(name);
        try (AtomicFile file = AtomicFile.create(target)) {
            write(file, "new");
            assertThat(target).doesNotExist();
            file.commit();
        }
        assertThat(target).hasContent("new");
        assertThat(folder.toFile().list()).hasSize(1);
    }

    @Test
    void writesNamesOfAnyScriptWhereTheLocaleAllows() throws IOException {
        assumeFalse(System.getProperty("sun.jnu.encoding").startsWith("ANSI"), "an ASCII locale has no such names");
        Path target = folder.resolve("红色 球.txt");
        try (AtomicFile file = AtomicFile.create(target)) {
            write(file, "new");
            file.commit();
        }
        assertThat(target).hasContent("new");
    }

    @Test
    void leavesTheOldFileAndNothingElseWithoutCommit() throws IOException {
        Path target = Files.writeString(folder.resolve("kept.txt"), "old");
        AtomicFile file = AtomicFile.create(target);
        write(file, "half");
        file.close();
        file.close();
        assertThat(target).hasContent("old");
        assertThat(folder.toFile().list()).containsExactly("kept.txt");
    }

    @Test
    void replacesAnExistingFile() throws IOException {
        Path target = Files.writeString(folder.resolve("kept.txt"), "old and longer");
        try (AtomicFile file = AtomicFile.create(target)) {
            write(file, "new");
            file.commit();
        }
        assertThat(target).hasContent("new");
    }

    @Test
    void writesThroughALink() throws IOException {
        Path real = Files.writeString(folder.resolve("real.txt"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("link.txt"), real);
        try (AtomicFile file = AtomicFile.create(link)) {
            write(file, "new");
            file.commit();
        }
        assertThat(link).isSymbolicLink();
        assertThat(real).hasContent("new");
    }

    @Test
    void refusesAMissingFolder() {
        assertThatThrownBy(() -> AtomicFile.create(folder.resolve("none").resolve("a.mp4"))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("does not exist").hasMessageContaining("none");
    }

    @Test
    void refusesAFolderADeviceAndAFileAsFolder() throws IOException {
        assertThatThrownBy(() -> AtomicFile.create(folder)).isInstanceOf(BadMediaException.class).hasMessageContaining("is a folder");
        assertThatThrownBy(() -> AtomicFile.create(Path.of("/dev/null"))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("device");
        Path plain = Files.createFile(folder.resolve("plain"));
        assertThatThrownBy(() -> AtomicFile.create(plain.resolve("a.mp4"))).isInstanceOf(BadMediaException.class);
    }

    @Test
    void refusesAReadOnlyFolder() throws IOException {
        Path locked = Files.createDirectory(folder.resolve("locked"));
        Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("r-xr-xr-x"));
        try {
            assumeFalse(Files.isWritable(locked), "the superuser may write anywhere");
            assertThatThrownBy(() -> AtomicFile.create(locked.resolve("a.mp4"))).isInstanceOf(BadMediaException.class)
                    .hasMessageContaining("cannot be written");
        } finally {
            Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @Test
    void saysThatTheDiskIsFull() {
        BadMediaException e = WriteTarget.failure(folder.resolve("a.mp4"),
                new FileSystemException(folder.toString(), null, "No space left on device"));
        assertThat(e).hasMessageContaining("No space left on device").hasMessageContaining("free some space");
        assertThat(WriteTarget.failure(folder.resolve("a.mp4"), new IOException("No space left on device"))).hasMessageContaining("free");
        assertThat(WriteTarget.failure(folder.resolve("a.mp4"), new FileSystemException("x", null, "Read-only file system")))
                .hasMessageContaining("cannot be written");
    }

    @Test
    void leavesNothingWhenTheProcessIsToldToStop() throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx32m", "-cp",
                System.getProperty("java.class.path"), Waiting.class.getName(), folder.resolve("a.mp4").toString()).start();
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("open");
            assertThat(folder).isNotEmptyDirectory();
            process.destroy();
            assertThat(process.waitFor()).isNotZero();
        }
        assertThat(folder).isEmptyDirectory();
    }

    /** Opens a file and waits to be stopped. */
    static final class Waiting {
        public static void main(String[] args) throws InterruptedException {
            AtomicFile.create(Path.of(args[0]));
            System.out.println("open");
            Thread.sleep(600_000);
        }
    }

    private static void write(AtomicFile file, String text) throws IOException {
        file.channel().write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }
}
