package io.kinema.serve.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A full disk is the server's trouble, not the client's. */
class StagedOutputTest {
    /** Linux's device that is always full. */
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    private Path folder;

    private static void isUnavailable(ThrowingCallable written) {
        assertThatThrownBy(written).asInstanceOf(InstanceOfAssertFactories.type(Problem.class)).extracting(Problem::kind).isEqualTo(ProblemKind.UNAVAILABLE);
    }

    @Test
    void whatCannotBeWrittenIsToldApart() throws IOException {
        isUnavailable(() -> {
            try (StagedOutput out = StagedOutput.to(FULL)) {
                out.write(1);
            }
        });
        isUnavailable(() -> StagedOutput.to(folder.resolve("missing/file")));
        Path file = folder.resolve("file");
        try (StagedOutput out = StagedOutput.to(file)) {
            out.write('a');
            out.write("bc".getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(file).hasContent("abc");
    }

    @Test
    void anUploadWithoutAFolderForItIsUnavailable() {
        BodyReader bodies = new BodyReader(BodyLimits.defaults(), name -> FieldKind.MEDIA);
        byte[] body = "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\r\nx\r\n--b--\r\n".getBytes(StandardCharsets.US_ASCII);
        isUnavailable(() -> {
            try (Staging staging = new Staging(folder.resolve("missing"))) {
                bodies.read("multipart/form-data; boundary=b", body.length, new ByteArrayInputStream(body), staging);
            }
        });
        assertThat(Files.exists(folder.resolve("missing"))).isFalse();
    }
}
