package io.kinema.jobs.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StorageKeyTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/etc/passwd", "a/../b", "..", ".", "a/.hidden", "a//b", "a/", "a b", "a\\b", "a\nb", "ä", "a/b/c/d/e/f/g/h/i", "a\0b"})
    void aKeyCannotLeadAnywhereElse(String text) {
        assertThatThrownBy(() -> new StorageKey(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void partsAreJoined() {
        assertThat(StorageKey.of("a", "b-1").resolve("c.mp4")).hasToString("a/b-1/c.mp4");
        assertThat(new StorageKey("a/b").parts()).containsExactly("a", "b");
    }
}
