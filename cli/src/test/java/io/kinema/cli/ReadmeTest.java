package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** What README.md shows works as it stands there. */
class ReadmeTest {
    private static final Pattern BLOCK = Pattern.compile("^```(\\w+)\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");

    @TempDir
    private Path folder;

    static List<String> commands() throws IOException {
        return blocks("sh").flatMap(String::lines).map(String::strip).filter(line -> line.startsWith("./kinema")).toList();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandParses(String command) {
        // Bash splits the line, as it will for the reader.
        String words = Shell.bare(folder).bash("eval \"set -- ${1#./kinema}\"; printf '%s\\n' \"$@\"", command).out();
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        CommandLine line = Kinema.commandLine(new Terminal(nowhere, nowhere, false));
        assertThatCode(() -> line.parseArgs(words.lines().toArray(String[]::new))).doesNotThrowAnyException();
    }

    @Test
    void theJavaExampleCompilesAndMakesItsClip() throws IOException {
        String example = blocks("java").collect(Collectors.joining());
        Map<Boolean, List<String>> lines = example.lines().collect(Collectors.partitioningBy(line -> line.startsWith("import ")));
        Path source = folder.resolve("Example.java");
        Files.writeString(source, String.join("\n", lines.get(true)) + "\nclass Example {\n"
                + "public static void main(String[] arguments) throws Exception {\n" + String.join("\n", lines.get(false)) + "\n}\n}\n");
        Shell.Result run = Shell.bare(folder).run(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx1g",
                "-Dkinema.home=" + Shell.ROOT, "-cp", System.getProperty("java.class.path"), source.toString());
        assertThat(run.exit()).as(run.err()).isZero();
        assertThat(folder.resolve("clip.mp4")).isNotEmptyFile();
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        for (String page : List.of("README.md", "ARCHITECTURE.md", "docs/dependencies.md", "docs/measuring.md")) {
            Path file = Shell.ROOT.resolve(page);
            List<Path> targets = LINK.matcher(Files.readString(file)).results().map(link -> file.resolveSibling(link.group(1))).toList();
            assertThat(targets).as(page).allSatisfy(target -> assertThat(target).exists());
        }
    }

    private static Stream<String> blocks(String language) throws IOException {
        return BLOCK.matcher(Files.readString(Shell.ROOT.resolve("README.md"))).results()
                .filter(block -> block.group(1).equals(language)).map((MatchResult block) -> block.group(2));
    }
}
