package io.kinema.engine.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizerLibraryTest {
    @Test
    void unpacksOnceAndRepairsAShortFile(@TempDir Path cache) throws IOException {
        Path file = TokenizerLibrary.unpacked(cache);
        assertThat(file).startsWith(cache);
        long size = Files.size(file);
        assertThat(size).isGreaterThan(1_000_000);
        var written = Files.getLastModifiedTime(file);
        assertThat(TokenizerLibrary.unpacked(cache)).isEqualTo(file);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(written);
        Files.write(file, new byte[100]);
        assertThat(Files.size(TokenizerLibrary.unpacked(cache))).isEqualTo(size);
        try (Stream<Path> left = Files.list(file.getParent())) {
            assertThat(left).containsExactly(file);
        }
    }

    @Test
    void aCacheThatCannotBeWrittenGivesAPrivateCopy(@TempDir Path folder) throws IOException {
        Path blocked = Files.writeString(folder.resolve("file"), "not a folder");
        Path file = TokenizerLibrary.unpacked(blocked);
        assertThat(file).isRegularFile();
        assertThat(file.startsWith(blocked)).isFalse();
    }
}
