package io.kinema.media;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MediaFactsTest {

    @Test
    void theBuildIsFreeSoftwareAndComplete() {
        Media.preload();
        MediaFacts facts = MediaFacts.read();
        assertThat(facts.version()).matches("\\d+\\.\\d+.*");
        assertThat(facts.license()).startsWith("LGPL");
        assertThat(facts.videoEncoder()).startsWith("libopenh264");
        assertThat(facts.audioEncoder()).startsWith("aac");
        assertThat(facts.missing()).isEmpty();
        assertThat(facts.libraries()).isDirectory();
    }
}
