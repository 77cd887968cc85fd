package io.kinema.jobs.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every storage promises. */
public abstract class StorageContract {
    private static final StorageKey CLIP = StorageKey.of("outputs", "video_1", "0", "clip.mp4");

    @TempDir
    protected Path folder;
    private OutputStorage storage;

    protected abstract OutputStorage open() throws Exception;

    @BeforeEach
    void start() throws Exception {
        storage = open();
    }

    @AfterEach
    void stop() {
        storage.close();
        storage.close();
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("a file"), text);
    }

    private String text(long from, long bytes) throws IOException {
        try (InputStream in = storage.read(CLIP, from, bytes).orElseThrow()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void whatIsPutIsFoundAndRead() throws Exception {
        assertThat(storage.find(CLIP)).isEmpty();
        assertThat(storage.read(CLIP, 0, 1)).isEmpty();
        assertThat(storage.put(CLIP, file("0123456789"))).isEqualTo(new StoredFile(CLIP, 10));
        assertThat(storage.find(CLIP)).contains(new StoredFile(CLIP, 10));
        assertThat(text(0, 10)).isEqualTo("0123456789");
        assertThat(text(3, 4)).isEqualTo("3456");
        assertThat(text(8, 100)).isEqualTo("89");
        storage.fetch(CLIP, folder.resolve("back"));
        assertThat(folder.resolve("back")).hasContent("0123456789");
        storage.put(CLIP, file("new"));
        assertThat(text(0, 100)).isEqualTo("new");
    }

    @Test
    void prefixesAreListedAndRemoved() throws Exception {
        storage.put(CLIP, file("a"));
        storage.put(StorageKey.of("outputs", "video_1", "1", "clip.mp4"), file("b"));
        storage.put(StorageKey.of("outputs", "video_10", "0", "clip.mp4"), file("c"));
        assertThat(storage.children(new StorageKey("outputs"))).containsExactly("video_1", "video_10");
        storage.deleteAll(StorageKey.of("outputs", "video_1"));
        assertThat(storage.children(new StorageKey("outputs"))).containsExactly("video_10");
        storage.deleteAll(StorageKey.of("outputs", "video_10", "0", "clip.mp4"));
        assertThat(storage.find(StorageKey.of("outputs", "video_10", "0", "clip.mp4"))).isEmpty();
        storage.deleteAll(StorageKey.of("outputs", "absent"));
        assertThat(storage.children(new StorageKey("nothing"))).isEmpty();
    }

    @Test
    void failuresNameTheKeyAndNoPath() {
        assertThatThrownBy(() -> storage.put(CLIP, folder.resolve("absent"))).isInstanceOf(StorageException.class)
                .hasMessageContaining(CLIP.value()).hasMessageNotContaining(folder.toString());
        assertThatThrownBy(() -> storage.fetch(CLIP, folder.resolve("target"))).isInstanceOf(StorageException.class)
                .hasMessageContaining(CLIP.value()).hasMessageNotContaining(folder.toString());
        assertThat(folder.resolve("target")).doesNotExist();
    }
}
