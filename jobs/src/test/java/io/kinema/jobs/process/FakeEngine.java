package io.kinema.jobs.process;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Stage;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.OutputFile;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * An engine process that computes nothing: the words of the prompt say what it does ({@code steps=5 step-ms=20 crash-at=DENOISING/3}). Its
 * "clip" is the prompt, and the steps that each process made of it. {@code hold-at} makes it wait at a
 * place until a test has done something there, whatever the machine's speed.
 */
public final class FakeEngine implements JobEngine {
    private final long millis;

    private FakeEngine(long millis) {
        this.millis = millis;
    }

    /** @param arguments milliseconds that a job takes, when its prompt says nothing else */
    public static void main(String[] arguments) throws IOException {
        EngineHost.serve(System.in, new FileOutputStream(FileDescriptor.out), () -> new FakeEngine(Long.parseLong(arguments[0])));
        Runtime.getRuntime().halt(0);
    }

    /** Starts it from this test's class path. */
    public static EngineLauncher launcher(long millis) {
        return () -> new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx48m", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", System.getProperty("java.class.path"), FakeEngine.class.getName(), Long.toString(millis)).start();
    }

    @Override
    public void run(EngineOrder.Run order, StopRequest stop, Consumer<EngineReport> reports) {
        String prompt = order.request().prompt();
        for (int k = order.firstOutput(); k < order.request().outputs(); k++) {
            mishap(prompt, "OUTPUT/" + k, stop);
            reports.accept(new EngineReport.OutputBegan(k));
            for (Stage stage : List.of(Stage.LOADING, Stage.TEXT_ENCODING)) {
                stage(stage, prompt, stop, reports);
            }
            List<String> made = denoise(k, order, stop, reports);
            stage(Stage.VIDEO_DECODING, prompt, stop, reports);
            stage(Stage.AUDIO_DECODING, prompt, stop, reports);
            reports.accept(new EngineReport.StageBegan(JobStage.SAVING));
            mishap(prompt, "SAVING", stop);
            reports.accept(new EngineReport.OutputReady(k, k, write(order.folder().resolve("output-" + k), prompt + " #" + k + " " + made)));
        }
    }

    private void stage(Stage stage, String prompt, StopRequest stop, Consumer<EngineReport> reports) {
        reports.accept(new EngineReport.StageBegan(JobStage.of(stage)));
        mishap(prompt, stage.name(), stop);
        stop.cancellation().check(stage);
    }

    /** Each step is a word; words of an earlier attempt are taken over from the steps file. */
    private List<String> denoise(int output, EngineOrder.Run order, StopRequest stop, Consumer<EngineReport> reports) {
        String prompt = order.request().prompt();
        int steps = value(prompt, "steps").map(Integer::parseInt).orElse(1);
        long stepMillis = value(prompt, "step-ms").map(Long::parseLong).orElse(millis);
        reports.accept(new EngineReport.StageBegan(JobStage.DENOISING));
        List<String> made = new ArrayList<>(restore(order.steps(), output));
        if (!made.isEmpty()) {
            reports.accept(new EngineReport.Restored(output, made.size(), steps));
        }
        while (made.size() < steps) {
            stop.cancellation().check(Stage.DENOISING);
            pause(stepMillis);
            mishap(prompt, "DENOISING/" + made.size(), stop);
            made.add("s" + made.size());
            stop.stepped();
            reports.accept(new EngineReport.Step(output, made.size(), steps));
            if (made.size() % order.saveEvery() == 0 || made.size() == steps) {
                save(order.steps(), output + "," + String.join(",", made));
                reports.accept(new EngineReport.Saved(output, made.size(), steps));
                stop.saved();
            }
        }
        return made;
    }

    private static List<String> restore(Path file, int output) {
        try {
            List<String> words = Files.exists(file) ? Arrays.asList(Files.readString(file).split(",")) : List.of();
            return !words.isEmpty() && words.getFirst().equals("" + output) ? words.subList(1, words.size()) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void save(Path file, String text) {
        try {
            Path part = file.resolveSibling("part");
            Files.writeString(part, text);
            Files.move(part, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<OutputFile> write(Path folder, String text) {
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve(OutputFile.VIDEO.fileName()), text);
            return EnumSet.of(OutputFile.VIDEO);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<String> value(String prompt, String name) {
        return Arrays.stream(prompt.split(" ")).filter(word -> word.startsWith(name + "=")).map(word -> word.substring(name.length() + 1)).findFirst();
    }

    /**
     * {@code crash-at=STAGE} kills the process there, {@code crash-once-at=STAGE:FILE} only while the file is there, {@code hold-at=STAGE:FILE} (a URI, which has no blanks) waits
     * while the file is there and nobody wants it to stop, and so on.
     */
    private static void mishap(String prompt, String here, StopRequest stop) {
        Optional<Path> held = file(prompt, "hold-at", here);
        while (held.isPresent() && Files.exists(held.get()) && !stop.cancellation().requested()) {
            pause(5);
        }
        if (value(prompt, "crash-at").filter(here::equals).isPresent()) {
            Runtime.getRuntime().halt(139);
        }
        Optional<Path> once = file(prompt, "crash-once-at", here);
        if (once.isPresent() && once.get().toFile().delete()) {
            Runtime.getRuntime().halt(139);
        }
        if (value(prompt, "freeze-at").filter(here::equals).isPresent()) {
            signal("STOP");
        }
        if (value(prompt, "stall-at").filter(here::equals).isPresent()) {
            pause(600_000);
        }
        if (value(prompt, "babble-at").filter(here::equals).isPresent()) {
            System.out.print("a library that prints");
            System.out.flush();
            pause(600_000);
        }
        if (value(prompt, "wrong-at").filter(here::equals).isPresent()) {
            throw new BadRequestException("image", "'/home/somebody/secret dir/0.png' that is no picture", "expected PNG, JPEG or WebP");
        }
        if (value(prompt, "vm-error-at").filter(here::equals).isPresent()) {
            throw new InternalError("a fault occurred in an unsafe memory access operation");
        }
        if (value(prompt, "no-space-at").filter(here::equals).isPresent()) {
            throw new Refusals.CannotWriteException(new IllegalStateException("Cannot write '/var/kinema/jobs/x/clip.mp4': No space left on device."));
        }
    }

    private static Optional<Path> file(String prompt, String name, String here) {
        return value(prompt, name).filter(v -> v.startsWith(here + ":")).map(v -> Path.of(URI.create(v.substring(here.length() + 1))));
    }

    private static void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(ProcessHandle.current().pid())).start().waitFor();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
    }
}
