package io.kinema.jobs.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.JobError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusalsTest {
    @ParameterizedTest
    @CsvSource({
        "Cannot read '/var/lib/kinema/jobs/video_1/0.png': it is empty, Cannot read '0.png': it is empty",
        "/models/h3/transformer/model.safetensors: cut off, model.safetensors: cut off",
        "'/home/somebody/my pictures/0.png' is none, '0.png' is none",
        "16/9 and a/b/c stay, 16/9 and a/b/c stay",
        "in latents:/data/l.safetensors, in latents:l.safetensors",
        "see https://example.org/a/b, see https://example.org/a/b"})
    void pathsLoseTheirFolders(String message, String shown) {
        assertThat(Refusals.withoutFolders(message)).isEqualTo(shown);
    }

    @Test
    void aMessageIsOneLineOfModestLength() {
        assertThat(Refusals.of(new IllegalStateException("a\nb\u001b[31m" + "x".repeat(5000))).message()).doesNotContain("\n", "\u001b").hasSizeLessThan(1100);
        assertThat(Refusals.of(new OutOfMemoryError()).code()).isEqualTo(JobError.Code.GENERATION_FAILED);
    }
}
