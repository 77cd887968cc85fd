package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory that a plan promises is about what a whole process then holds, as the system counts it. */
class PlanMemoryTest {
    private static final Percentage MARGIN = Percentage.withPercentage(25);
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    void theProcessHoldsWhatThePlanSays() throws IOException {
        JsonNode plan = json("plan");
        JsonNode record = json("generate").path("record");
        assertThat(plan.path("request")).isEqualTo(record.path("request"));
        assertThat(record.path("memory").path("peak_resident_bytes").asLong()).isCloseTo(plan.path("memory").path("peak_bytes").asLong(), MARGIN);
    }

    private JsonNode json(String command) throws IOException {
        Shell.Result result = Shell.bare(folder).kinema(command, "A red circle", "--width", "320", "--height", "256", "--frames", "22", "--steps", "1",
                "--output", "clip.mp4", "--quiet", "--json");
        assertThat(result.exit()).as(result.err()).isZero();
        return JSON.readTree(result.out());
    }
}
