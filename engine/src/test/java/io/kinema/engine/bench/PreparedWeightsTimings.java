package io.kinema.engine.bench;

import io.kinema.compute.Precision;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.PreparedWeightsOptions;
import io.kinema.engine.RankOptions;
import io.kinema.engine.ResidencyOptions;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.record.StageTime;
import io.kinema.weights.prepared.CacheLimits;
import io.kinema.weights.prepared.PreparedCache;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Times opening with and without prepared weights, and measures the physical memory of one and two engine processes from
 * {@code /proc/PID/smaps_rollup}. Each engine is a process of its own that makes one clip in {@code fp16-fp32res}. A program, not a test.
 */
public final class PreparedWeightsTimings {
    private static final List<String> FIELDS = List.of("Rss", "Pss", "Pss_Anon", "Pss_File", "Private_Dirty");

    private PreparedWeightsTimings() {
    }

    /** Arguments: an empty folder for prepared weights, the transformer or {@code -} for the bundled one, and optionally numbers of ranks (default 1), of which one is measured with two processes too. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("engine")) {
            engine(arguments);
            return;
        }
        Path cache = Path.of(arguments[0]).toAbsolutePath();
        String transformer = arguments[1];
        List<String> ranks = arguments.length > 2 ? List.of(arguments).subList(2, arguments.length) : List.of("1");
        for (String count : ranks) {
            new PreparedCache(cache, CacheLimits.DEFAULTS).clear();
            run("without", 1, "off", transformer, count);
            run("cold", 1, cache.toString(), transformer, count);
            run("reuse", 1, cache.toString(), transformer, count);
            if (count.equals("1")) {
                run("without", 2, "off", transformer, count);
                run("reuse", 2, cache.toString(), transformer, count);
            }
        }
    }

    /** Starts engines together, and measures them when all have made their clip. */
    private static void run(String label, int engines, String prepared, String transformer, String ranks) throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < engines; i++) {
            processes.add(new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx768m", "-XX:+UseSerialGC",
                    "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                    "-Dkinema.home=" + BundledModel.folder().resolve("../..").normalize(), PreparedWeightsTimings.class.getName(), "engine", prepared, transformer, ranks)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start());
        }
        List<String> lines = new ArrayList<>();
        for (Process process : processes) {
            BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
            lines.add(reader.readLine());
        }
        for (int i = 0; i < engines; i++) {
            System.out.printf("%s, ranks %s, engine %d of %d: %s; %s%n", label, ranks, i + 1, engines, lines.get(i), memory(processes.get(i).pid()));
        }
        for (Process process : processes) {
            process.getOutputStream().close();
            process.waitFor();
        }
    }

    /** Makes a clip, says how long the stages took, and stays until its input ends. */
    private static void engine(String[] arguments) throws IOException {
        EngineOptions.Builder options = EngineOptions.builder().precision(Precision.FP16_FP32RES).ranks(RankOptions.DEFAULTS.withTensorParallel(Integer.parseInt(arguments[3])))
                .residency(ResidencyOptions.DEFAULTS.withPreparedWeights(PreparedWeightsOptions.of(arguments[1])));
        if (!arguments[2].equals("-")) {
            options.transformer(Path.of(arguments[2]));
        }
        try (H3Engine engine = H3Engine.open(options.build())) {
            Clip clip = engine.generate(GenerateRequest.prompt("A red circle bounces").size(96, 96).frames(22).steps(1).seed(1).build());
            String stages = clip.record().stages().stream().map(PreparedWeightsTimings::text).collect(Collectors.joining(", "));
            System.out.println(stages + "; latents " + Integer.toHexString(Arrays.hashCode(clip.latents().video())));
            System.in.readAllBytes();
        }
    }

    private static String text(StageTime time) {
        return String.format(Locale.ROOT, "%s %.2f s", time.stage().key(), time.seconds());
    }

    private static String memory(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc", "" + pid, "smaps_rollup")).stream().map(line -> line.split(":?\\s+"))
                .filter(words -> FIELDS.contains(words[0])).map(words -> words[0] + " " + Long.parseLong(words[1]) / 1024 + " MiB").collect(Collectors.joining(", "));
    }
}
