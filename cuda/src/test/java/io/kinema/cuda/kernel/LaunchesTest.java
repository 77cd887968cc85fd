package io.kinema.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.cuda.driver.KernelBounds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** What the launch rules ask for, kernels were compiled for. A driver refuses the launch else, and only for rows that are wide enough. */
class LaunchesTest {
    private static final Path SOURCES = Path.of(System.getProperty("kinema.root"), "cuda/src/main/java");
    private static final Pattern LAUNCH = Pattern.compile("launch\\(\"(kinema_\\w+)\",\\s*Launches\\.(\\w+)\\(");
    private static final int VECTOR = 8;

    private static List<MatchResult> launches() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            StringBuilder all = new StringBuilder();
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                all.append(Files.readString(file));
            }
            return LAUNCH.matcher(all).results().toList();
        }
    }

    private static int threads(Grid grid) {
        return grid.threadsX() * grid.threadsY();
    }

    /** The largest block of a rule over rows of every width up to the widest that any model has. */
    private static int largestBlock(String rule) {
        return LongStream.rangeClosed(1, 1 << 16).mapToInt(n -> threads(switch (rule) {
            case "rows" -> Launches.rows(1, n);
            case "elements" -> Launches.elements(1, n);
            case "loop" -> Launches.loop(n);
            default -> throw new IllegalArgumentException(rule + ": not a launch rule");
        })).max().getAsInt();
    }

    @Test
    void noRuleAsksForMoreThreadsThanAKernelTakes() throws IOException {
        assertThat(launches()).hasSizeGreaterThan(15).allSatisfy(m -> {
            assertThat(KernelBounds.all()).containsKey(m.group(1));
            assertThat(largestBlock(m.group(2))).as("%s by rule %s", m.group(1), m.group(2)).isLessThanOrEqualTo(KernelBounds.mostThreads(m.group(1)));
        });
        assertThat(launches().stream().map(m -> m.group(2)).distinct().toList()).containsExactlyInAnyOrder("elements", "loop", "rows");
    }

    @Property(tries = 200)
    void aRowsBlockReachesAllOfIt(@ForAll @LongRange(min = 1, max = 1 << 20) long width) {
        Grid grid = Launches.rows(3, width);
        long vectors = Math.ceilDiv(width, VECTOR);
        assertThat(threads(grid)).isPositive().isEqualTo(threads(grid) / 32 * 32);
        assertThat((long) threads(grid) * Math.ceilDiv(vectors, 256)).as("threads times passes").isGreaterThanOrEqualTo(vectors);
    }
}
