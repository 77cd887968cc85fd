package io.kinema.media.video;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.ffmpeg.ffmpeg;
import org.bytedeco.ffmpeg.ffprobe;
import org.bytedeco.javacpp.Loader;

/** What {@code ffprobe} says of a file: the system's if there is one, else the one that comes with the FFmpeg libraries. */
final class Probe {

    private final List<Map<String, String>> streams = new ArrayList<>();
    private final Map<String, String> tags = new LinkedHashMap<>();

    static Probe of(Path file) throws IOException, InterruptedException {
        Probe probe = new Probe();
        probe.parse(run(program("ffprobe"), "-v", "error", "-count_frames", "-show_streams", "-show_format", file.toString()));
        // Decoding all of it must raise no complaint.
        assertThat(run(program("ffmpeg"), "-v", "error", "-i", file.toString(), "-f", "null", "-")).isEmpty();
        return probe;
    }

    /** The fields of the first stream of this type. */
    Map<String, String> stream(String type) {
        return streams.stream().filter(s -> type.equals(s.get("codec_type"))).findFirst().orElseThrow();
    }

    /** The tags of the file. */
    Map<String, String> tags() {
        return tags;
    }

    private void parse(String text) {
        Map<String, String> section = new LinkedHashMap<>();
        for (String line : text.lines().toList()) {
            int equals = line.indexOf('=');
            if (line.equals("[STREAM]")) {
                section = new LinkedHashMap<>();
                streams.add(section);
            } else if (line.equals("[FORMAT]")) {
                section = new LinkedHashMap<>();
            } else if (line.startsWith("TAG:") && streams.stream().noneMatch(section::equals)) {
                tags.put(line.substring(4, equals), line.substring(equals + 1));
            } else if (equals > 0) {
                section.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
    }

    private static String program(String name) {
        for (String folder : System.getenv("PATH").split(":")) {
            Path candidate = Path.of(folder, name);
            if (candidate.toFile().canExecute()) {
                return candidate.toString();
            }
        }
        String ffmpegProgram = Loader.load(ffmpeg.class);
        return name.equals("ffmpeg") ? ffmpegProgram : Loader.load(ffprobe.class);
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("exit code of %s: %s", String.join(" ", command), output).isZero();
        return output;
    }
}
