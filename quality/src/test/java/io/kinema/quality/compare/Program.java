package io.kinema.quality.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.ffmpeg.ffmpeg;
import org.bytedeco.javacpp.Loader;

/** Runs the system's ffmpeg, where there is one (another build than the one that Kinema links), else the one beside the libraries. */
final class Program {
    private Program() {
    }

    /** All that it printed; it must succeed. */
    static String ffmpeg(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program(), "-hide_banner", "-nostdin", "-y"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(log).isZero();
        return log;
    }

    private static String program() {
        for (String place : System.getenv("PATH").split(":")) {
            Path candidate = Path.of(place, "ffmpeg");
            if (candidate.toFile().canExecute()) {
                return candidate.toString();
            }
        }
        return Loader.load(ffmpeg.class);
    }
}
