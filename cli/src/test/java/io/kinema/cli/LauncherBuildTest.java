package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The {@code kinema} script in a repository of its own: first build, rebuild, failure, two launches at once. */
@Tag("long")
class LauncherBuildTest {
    @TempDir
    private Path folder;

    private Path repository;
    private Shell shell;

    @BeforeEach
    void copyTheRepository() throws IOException {
        repository = folder.resolve("it's a repository");
        for (String part : List.of("kinema", "scripts", "pom.xml", "models/h3-nano")) {
            copy(Shell.ROOT.resolve(part));
        }
        try (Stream<Path> modules = Files.list(Shell.ROOT).filter(module -> Files.exists(module.resolve("pom.xml")))) {
            for (Path module : modules.toList()) {
                copy(module.resolve("pom.xml"));
                if (Files.exists(module.resolve("src/main"))) {
                    copy(module.resolve("src/main"));
                }
            }
        }
        shell = Shell.bare(folder).with("XDG_CACHE_HOME", folder.resolve("cache").toString());
    }

    @Test
    void twoLaunchesAtOnceBuildOnce() {
        Shell.Result[] results = Stream.generate(() -> CompletableFuture.supplyAsync(() -> kinema(shell, "--version"))).limit(2).toList()
                .stream().map(CompletableFuture::join).toArray(Shell.Result[]::new);
        assertThat(results).allSatisfy(result -> assertThat(result.exit()).as(result.err()).isZero());
        assertThat(results).extracting(Shell.Result::out).containsOnly("kinema 0.1.0\n");
        assertThat(results).filteredOn(result -> result.err().contains("kinema: building")).hasSize(1);
        assertThat(kinema(shell, "doctor").out()).containsPattern("ok   startup cache .*\\.aot\n");
    }

    @Test
    void buildsAgainAfterAChangeAndShowsWhatIsWrongWithIt() throws IOException {
        Shell plain = shell.with("KINEMA_AOT", "off");
        assertThat(kinema(plain, "--version").err()).isEqualTo("kinema: building (the first time takes a minute or two)\n");
        assertThat(kinema(plain, "--version").err()).isEmpty();

        Path source = repository.resolve("cli/src/main/java/io/kinema/cli/Version.java");
        String text = Files.readString(source);
        Files.writeString(source, text.replace("\"kinema \"", "\"changed \""));
        assertThat(kinema(plain, "--version")).isEqualTo(new Shell.Result(0, "changed 0.1.0\n", "kinema: building\n"));
        assertThat(repository.resolve(".kinema/builds").toFile().list()).as("builds kept").hasSize(1);

        Files.writeString(source, text.replace("return", "retrun"));
        Shell.Result broken = kinema(plain, "--version");
        assertThat(broken.exit()).isEqualTo(1);
        assertThat(broken.err()).contains("Version.java", "kinema: the build failed; its whole output is in ");

        Files.writeString(source, text);
        assertThat(kinema(plain, "--version").out()).isEqualTo("kinema 0.1.0\n");
    }

    private Shell.Result kinema(Shell in, String... arguments) {
        return in.run(Stream.concat(Stream.of(repository + "/kinema"), Stream.of(arguments)).toArray(String[]::new));
    }

    private void copy(Path from) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path to = repository.resolve(Shell.ROOT.relativize(file).toString());
                Files.createDirectories(to.getParent());
                if (!Files.isDirectory(file)) {
                    Files.copy(file, to, StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
    }
}
