package io.kinema.media.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StagedFilesTest {
    @TempDir
    private Path folder;

    @Test
    void nothingIsThereBeforeTheCommitAndEverythingAfter() throws IOException {
        Files.writeString(folder.resolve("a.txt"), "old");
        try (StagedFiles staged = new StagedFiles()) {
            Files.writeString(staged.stage(folder.resolve("a.txt")), "new");
            Files.writeString(staged.stage(folder.resolve("b.txt")), "second");
            assertThat(folder.resolve("a.txt")).hasContent("old");
            assertThat(folder.resolve("b.txt")).doesNotExist();
            staged.commit();
        }
        assertThat(folder.resolve("a.txt")).hasContent("new");
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("a.txt", "b.txt");
    }

    @Test
    void closingWithoutCommitLeavesEverythingAsItWas() throws IOException {
        Files.writeString(folder.resolve("a.txt"), "old");
        StagedFiles staged = new StagedFiles();
        Files.writeString(staged.stage(folder.resolve("a.txt")), "new");
        Files.writeString(staged.stageFolder(folder.resolve("frames"), name -> true).resolve("x"), "x");
        staged.close();
        staged.close();
        assertThat(folder.resolve("a.txt")).hasContent("old");
        assertThat(folder.toFile().list()).containsExactly("a.txt");
    }

    @Test
    void aFolderIsMadeOrFilledAndItsOlderLotGoes() throws IOException {
        Path frames = folder.resolve("frames");
        try (StagedFiles staged = new StagedFiles()) {
            Path inside = staged.stageFolder(frames, name -> name.startsWith("frame-"));
            Files.writeString(inside.resolve("frame-0"), "0");
            Files.writeString(inside.resolve("frame-1"), "1");
            staged.commit();
        }
        Files.writeString(frames.resolve("notes"), "mine");
        try (StagedFiles staged = new StagedFiles()) {
            Files.writeString(staged.stageFolder(frames, name -> name.startsWith("frame-")).resolve("frame-0"), "again");
            staged.commit();
        }
        assertThat(frames.toFile().list()).containsExactlyInAnyOrder("frame-0", "notes");
        assertThat(frames.resolve("frame-0")).hasContent("again");
    }

    @Test
    void failuresNameTheFileThatTheUserNamed() {
        Path target = folder.resolve("clip.mp4");
        try (StagedFiles staged = new StagedFiles()) {
            Path hidden = staged.stage(target);
            assertThat(staged.named(new BadMediaException("Cannot write '" + hidden + "': No space left")))
                    .hasMessage("Cannot write '" + target.toAbsolutePath() + "': No space left");
        }
        assertThatExceptionOfType(BadMediaException.class).isThrownBy(() -> new StagedFiles().stage(folder.resolve("no/clip.mp4")))
                .withMessageContaining("does not exist");
    }
}
