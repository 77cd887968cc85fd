package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code scripts/jdk.sh} on folders made to look like JDKs. */
class JdkSearchTest {
    /** Finds a JDK with only the given folders in the usual places. */
    private static final String FIND = ". \"$1\"; shift; found=(\"$@\"); usual_jdk_folders() { jdk_folders=(\"${found[@]}\"); };"
            + " find_jdk && printf %s \"$KINEMA_JDK\"";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"25, true", "25.0.3, true", "26-ea, true", "100.1, true", "24.0.2, false", "17.0.15, false", "1.8.0_292, false", "x, false"})
    void readsTheVersionFromTheReleaseFile(String version, boolean fits) throws IOException {
        Path jdk = jdk("jdk", version);
        assertThat(find(bare(), jdk).out()).isEqualTo(fits ? jdk.toString() : "");
    }

    @Test
    void prefersJavaHomeThenThePathThenTheNearestVersion() throws IOException {
        Path home = jdk("home", "27");
        Path path = jdk("path", "28");
        Path first = jdk("a", "30");
        Path nearest = jdk("b", "25.0.1");
        Shell withPath = bare().with("PATH", path.resolve("bin") + ":/usr/bin:/bin");
        assertThat(find(withPath.with("JAVA_HOME", home.toString()), first, nearest).out()).isEqualTo(home.toString());
        assertThat(find(withPath, first, nearest).out()).isEqualTo(path.toString());
        assertThat(find(bare(), first, nearest).out()).isEqualTo(nearest.toString());
    }

    @Test
    void passesOverAnOldJavaHome() throws IOException {
        Path good = jdk("good", "25");
        assertThat(find(bare().with("JAVA_HOME", jdk("old", "17.0.1").toString()), good).out()).isEqualTo(good.toString());
    }

    @Test
    void followsLinksOnThePath() throws IOException {
        Path jdk = jdk("real jdk", "25");
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Files.createSymbolicLink(bin.resolve("java"), jdk.resolve("bin/java"));
        assertThat(find(bare().with("PATH", bin + ":/usr/bin:/bin")).out()).isEqualTo(jdk.toString());
    }

    @Test
    void passesOverARuntimeWithoutCompiler() throws IOException {
        Path runtime = jdk("jre", "25");
        Files.delete(runtime.resolve("bin/javac"));
        assertThat(find(bare(), runtime).exit()).isEqualTo(1);
    }

    @Test
    void saysInOneLineHowToGetOne() {
        Shell.Result none = find(bare());
        assertThat(none.exit()).isEqualTo(1);
        assertThat(none.errors()).singleElement().asString().contains("needs a JDK 25 or later", "JAVA_HOME", "adoptium.net");
    }

    private Shell bare() {
        return Shell.bare(folder);
    }

    private static Shell.Result find(Shell shell, Path... usual) {
        String[] arguments = new String[usual.length + 1];
        arguments[0] = Shell.ROOT.resolve("scripts/jdk.sh").toString();
        for (int i = 0; i < usual.length; i++) {
            arguments[i + 1] = usual[i].toString();
        }
        return shell.bash(FIND, arguments);
    }

    private Path jdk(String name, String version) throws IOException {
        Path home = folder.resolve(name);
        Files.createDirectories(home.resolve("bin"));
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"Test\"\nJAVA_VERSION=\"" + version + "\"\n");
        for (String tool : Set.of("java", "javac")) {
            Files.writeString(home.resolve("bin").resolve(tool), "#!/bin/false\n").toFile().setExecutable(true);
        }
        return home;
    }
}
