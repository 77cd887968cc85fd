package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The {@code kinema} script in this repository, as a user starts it. */
class LauncherTest {
    @TempDir
    private Path folder;

    @BeforeAll
    static void build() {
        Shell.Result first = Shell.bare(Shell.ROOT).kinema("--version");
        assertThat(first.exit()).as(first.err()).isZero();
    }

    @Test
    void printsNothingButTheAnswer() {
        Shell.Result version = Shell.bare(folder).kinema("--version");
        assertThat(version).isEqualTo(new Shell.Result(0, "kinema 0.1.0\n", ""));
    }

    @Test
    void startsThroughALink() throws IOException {
        Path link = folder.resolve("a link");
        Files.createSymbolicLink(link, Shell.ROOT.resolve("kinema"));
        assertThat(Shell.bare(folder).run(link.toString(), "--version").exit()).isZero();
        Files.delete(link);
    }

    /** Field report 24: names with blanks, quotes and other scripts broke the child process. */
    @Test
    void report24PassesArgumentsUnchangedInThePlainestLocale() {
        // Bash makes the Chinese word from bytes: this JVM's own locale may not know it.
        Shell.Result result = Shell.bare(folder)
                .bash("exec \"$1\" $'it\\'s a \"\\xe5\\xb8\\xbd\\xe5\\xad\\x90\" *'", Shell.ROOT + "/kinema");
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.errors()).singleElement().asString().startsWith("kinema: unknown command 'it's a \"帽子\" *'");
    }

    @Test
    void showsWhatTheJvmSaysAboutAWrongOption() {
        Shell.Result result = Shell.bare(folder).with("KINEMA_JAVA_OPTS", "-XX:+NoSuchOption").kinema("--version");
        assertThat(result.exit()).isEqualTo(1);
        assertThat(result.err()).contains("Unrecognized VM option 'NoSuchOption'");
    }

    @Test
    void passesJavaOptions() {
        Shell shell = Shell.bare(folder);
        assertThat(shell.with("JAVA_OPTS", "-Xmx300m -Dx=y").kinema("doctor").out()).contains("Java heap at most 0.3 GiB");
        assertThat(shell.with("JAVA_OPTS", "-Xmx300m").with("KINEMA_JAVA_OPTS", "-Xmx600m").kinema("doctor").out())
                .contains("Java heap at most 0.6 GiB");
        assertThat(shell.with("JAVA_OPTS", "-XX:+UseZGC").kinema("doctor").out()).contains("not used by this JVM");
    }

    @Test
    void usesTheStartUpCache() {
        assertThat(Shell.bare(folder).kinema("doctor").out()).containsPattern("ok   startup cache .*\\.aot\n");
        assertThat(Shell.bare(folder).with("KINEMA_AOT", "off").kinema("doctor").out()).contains("!!   startup cache  none");
    }

    @Test
    void keepsNoDescriptorOfTheLauncher() {
        // A pipe on standard error closes when the command ends, although a filter stood in it.
        Shell.Result result = Shell.bare(folder).bash("{ \"$1\" no-such-command 2>&1 >&3 | cat; } 3>&1", Shell.ROOT + "/kinema");
        assertThat(result.out().lines().toList()).isEqualTo(List.of(result.out().strip()));
        assertThat(result.out()).startsWith("kinema: unknown command");
    }
}
