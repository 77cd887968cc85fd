package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** OpenBLAS, FFmpeg and the tokenizer are unpacked into one folder, by one rule, though no code of theirs is shared. */
class CacheFolderTest {
    @TempDir
    private Path folder;

    @ParameterizedTest(name = "XDG_CACHE_HOME={0} HOME={1}")
    @CsvSource(nullValues = "unset", value = {"@/caches, @/home, caches", "caches, @/home, home/.cache", "'', @/home, home/.cache", "unset, @/home, home/.cache",
        "unset, unset, user/.cache"})
    void allLibrariesLieInOne(String caches, String home, String expected) throws IOException {
        Shell shell = new Shell(folder.resolve("work"), Map.of("PATH", "/usr/bin:/bin", "LANG", "C"));
        shell = caches == null ? shell : shell.with("XDG_CACHE_HOME", caches.replace("@", folder.toString()));
        shell = home == null ? shell : shell.with("HOME", home.replace("@", folder.toString()));
        Shell.Result doctor = shell.run(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-Duser.home=" + folder.resolve("user"), "-Dkinema.home=" + Shell.ROOT,
                "-cp", System.getProperty("java.class.path"), Kinema.class.getName(), "doctor", "--json");
        Path cache = folder.resolve(expected).resolve("kinema/native");
        assertThat(libraries()).as(doctor.out() + doctor.err()).allSatisfy(file -> assertThat(file).startsWith(cache));
        assertThat(libraries().stream().map(file -> file.getFileName().toString()).toList()).contains("libopenblas.so.0", "libtokenizers.so")
                .anyMatch(name -> name.startsWith("libavcodec"));
    }

    private List<Path> libraries() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return new ArrayList<>(files.filter(file -> file.getFileName().toString().matches("lib.*\\.so.*")).toList());
        }
    }
}
