package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.EngineOptionsJson;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** What the documents say of each other and of the command is there. README.md has a test of its own beside. */
class DocumentsTest {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root")).toAbsolutePath().normalize();
    private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());
    private static final CommandLine KINEMA = Kinema.commandLine(new Terminal(NOWHERE, NOWHERE, false));
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s:]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
    private static final Pattern COMMAND = Pattern.compile("\\bkinema ([a-z]+(?: inspect)?) ([^`\\n]*)");
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
    /** Where one command ends and another program, or a remark, begins. */
    private static final Pattern END = Pattern.compile(" #| \\| |[;>]| mvn ");

    static List<Path> documents() throws IOException {
        List<Path> all = new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("ARCHITECTURE.md"), ROOT.resolve("CHANGELOG.md")));
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(all::add);
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyLinkLeadsSomewhere(Path document) throws IOException {
        for (String link : LINK.matcher(Files.readString(document)).results().map(m -> m.group(1)).toList()) {
            String[] parts = link.split("#", 2);
            Path target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]).normalize();
            assertThat(target).as(link).exists();
            if (parts.length == 2) {
                assertThat(anchors(target)).as(link).contains(parts[1]);
            }
        }
    }

    /** A field, an option or a limit has one line; merged branches left two. */
    @ParameterizedTest
    @MethodSource("documents")
    void noTableSaysATermTwice(Path document) throws IOException {
        if (document.getParent().endsWith("evidence")) {
            return;
        }
        Set<String> seen = new HashSet<>();
        for (String line : Files.readAllLines(document)) {
            if (!line.startsWith("|")) {
                seen.clear();
            } else if (line.startsWith("| `")) {
                assertThat(seen.add(line.split("\\|")[1])).as(line).isTrue();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyOptionOfACommandIsOneThatItHas(Path document) throws IOException {
        String text = Files.readString(document).replace("\\\n", " ");
        for (MatchResult match : COMMAND.matcher(text).results().toList()) {
            CommandLine command = KINEMA;
            for (String name : match.group(1).split(" ")) {
                command = command == null ? null : command.getSubcommands().get(name);
            }
            if (command != null) {
                String words = END.split(match.group(2).replaceAll("\"[^\"]*\"|'[^']*'", "x"), 2)[0];
                for (String option : OPTION.matcher(words).results().map(MatchResult::group).toList()) {
                    assertThat(command.getCommandSpec().findOption(option)).as("%s in: kinema %s %s", option, match.group(1), words).isNotNull();
                }
            }
        }
    }

    /** A contract's execution has every option that an engine has. */
    @Test
    void theContractsFieldsAreAllNamed() throws IOException {
        String row = Files.readAllLines(ROOT.resolve("docs/measuring.md")).stream().filter(line -> line.startsWith("| `execution` | optional")).findFirst().orElseThrow();
        Set<String> named = Pattern.compile("`([a-z0-9_]+)`").matcher(row).results().map(m -> m.group(1)).skip(1).collect(Collectors.toSet());
        assertThat(named).containsExactlyInAnyOrderElementsOf(EngineOptionsJson.fields());
    }

    private static List<String> anchors(Path document) throws IOException {
        return HEADING.matcher(Files.readString(document)).results()
                .map(m -> m.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-')).toList();
    }
}
