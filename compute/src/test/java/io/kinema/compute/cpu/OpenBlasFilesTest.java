package io.kinema.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenBlasFilesTest {
    @TempDir
    Path cache;

    @Test
    void unpacksOnceAndWhole() throws Exception {
        OpenBlasFiles.Library first = OpenBlasFiles.find(Optional.empty(), cache);
        assertThat(first.files()).hasSize(3).allMatch(Files::isRegularFile);
        assertThat(Path.of(first.name())).startsWith(cache);
        var modified = Files.getLastModifiedTime(first.files().getLast());
        assertThat(OpenBlasFiles.find(Optional.empty(), cache)).isEqualTo(first);
        assertThat(Files.getLastModifiedTime(first.files().getLast())).isEqualTo(modified);
        assertThat(children()).as("no partial folders stay behind").hasSize(1);
    }

    @Test
    void startsAtTheSameTimeShareOneFolder() throws Exception {
        List<OpenBlasFiles.Library> found = IntStream.range(0, 4).parallel().mapToObj(i -> OpenBlasFiles.find(Optional.empty(), cache)).toList();
        assertThat(found).allMatch(l -> l.equals(found.getFirst()));
        assertThat(children()).hasSize(1);
    }

    @Test
    void aDamagedFolderIsNotUsed() throws Exception {
        OpenBlasFiles.Library first = OpenBlasFiles.find(Optional.empty(), cache);
        Files.write(first.files().getLast(), new byte[] {1, 2, 3});
        OpenBlasFiles.Library other = OpenBlasFiles.find(Optional.empty(), cache);
        assertThat(Files.size(other.files().getLast())).isGreaterThan(3);
    }

    @Test
    void aNamedLibraryThatDoesNotExistIsSaid() {
        assertThatThrownBy(() -> OpenBlasFiles.find(Optional.of("/nowhere/libopenblas.so"), cache))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("KINEMA_OPENBLAS: got /nowhere/libopenblas.so, expected a libopenblas.so file");
    }

    @Test
    void aNamedFileThatIsNoLibraryIsSaid() throws Exception {
        Path text = Files.writeString(cache.resolve("libopenblas.so"), "not a library");
        OpenBlasFiles.Library library = OpenBlasFiles.find(Optional.of(text.toString()), cache);
        assertThatThrownBy(library::open).isInstanceOf(IllegalStateException.class).hasMessageContaining(text.toString())
                .hasMessageContaining("KINEMA_OPENBLAS");
    }

    private List<Path> children() throws Exception {
        try (Stream<Path> inside = Files.list(cache)) {
            return inside.toList();
        }
    }
}
