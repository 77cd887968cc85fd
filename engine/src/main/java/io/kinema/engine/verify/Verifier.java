package io.kinema.engine.verify;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.pipeline.Backends;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Owns what running golden cases takes (threads, a device) until it is closed. Cases are data made with the reference
 * implementation: {@link #verify} computes every check of every case and compares it with the stored result. Closing twice
 * is harmless; used by one thread.
 */
public final class Verifier implements AutoCloseable {
    private static final Map<String, Operations> COMPONENTS = new TreeMap<>(Map.ofEntries(
            Map.entry("rng", new RngOperations()),
            Map.entry("scheduler", new SchedulerOperations()),
            Map.entry("layout", new LayoutOperations()),
            Map.entry("tokenizer", new TokenizerOperations()),
            Map.entry("preprocess", new PreprocessOperations()),
            Map.entry("pipeline", new PipelineOperations()),
            Map.entry("transformer", new TransformerOperations()),
            Map.entry("lora", new TransformerOperations()),
            Map.entry("text_encoder", new TextEncoderOperations()),
            Map.entry("video_vae", new VideoVaeOperations()),
            Map.entry("audio_vae", new AudioVaeOperations())));

    private final RunSettings run;

    private Verifier(RunSettings run) {
        this.run = run;
    }

    /** @throws BadRequestException for a device that is not there */
    public static Verifier open(VerifyOptions options) {
        return new Verifier(new RunSettings(options, Backends.group(options.device(), options.ranks(), options.threads(), options.backend())));
    }

    /**
     * Runs the cases in name order and tells {@code listener} each result as soon as it is known. A case or check that is wrong
     * is one miss that says why, and the others still run.
     *
     * @param paths folders that hold a {@code case.json}, such files, or trees of such folders
     * @throws BadRequestException when a path is not there or holds no case; nothing has been run then
     * @throws io.kinema.weights.BadWeightsException when the model of the options is not there; nothing has been run then
     */
    public VerifyReport verify(List<Path> paths, Consumer<CheckResult> listener) {
        List<Path> folders = find(paths);
        run.options().model().ifPresent(ModelFolder::open);
        VerifyReport report = VerifyReport.EMPTY;
        for (Path folder : folders) {
            CaseFile file;
            try {
                file = CaseFile.read(folder);
            } catch (BadRequestException e) {
                report = report.plusUnreadableCase();
                listener.accept(CheckResult.unreadable(name(folder), e.getMessage()));
                continue;
            }
            report = verify(file, report.plusCase(), listener);
        }
        return report;
    }

    private VerifyReport verify(CaseFile file, VerifyReport before, Consumer<CheckResult> listener) {
        VerifyReport report = before;
        try (CaseFiles files = new CaseFiles(file.folder())) {
            CheckRunner runner = new CheckRunner(file, files, run, COMPONENTS);
            for (CaseFile.Entry check : file.checks()) {
                List<CheckResult> results = runner.run(check);
                results.forEach(listener);
                report = report.plusCheck(results);
            }
        }
        return report;
    }

    /** What a case that does not tell its name is called: topic and case. */
    private static String name(Path folder) {
        int names = folder.getNameCount();
        return names == 0 ? folder.toString() : folder.subpath(Math.max(0, names - 2), names).toString();
    }

    /** The case folders that {@code paths} name, in name order, each once. */
    static List<Path> find(List<Path> paths) {
        List<Path> found = new ArrayList<>();
        for (Path path : paths) {
            if (Files.isRegularFile(path) && path.getFileName().toString().equals(CaseFile.FILE)) {
                found.add(path.toAbsolutePath().getParent());
            } else if (!Files.isDirectory(path)) {
                throw new BadRequestException("case", path.toString(), "expected a folder with a " + CaseFile.FILE + ", or a tree of such folders");
            } else {
                found.addAll(walk(path));
            }
        }
        return found.stream().map(p -> p.toAbsolutePath().normalize()).distinct().toList();
    }

    private static List<Path> walk(Path root) {
        try (Stream<Path> all = Files.walk(root)) {
            List<Path> found = all.filter(p -> p.endsWith(CaseFile.FILE)).map(Path::getParent).sorted().toList();
            if (found.isEmpty()) {
                throw new BadRequestException("case", root.toString(), "expected a folder with a " + CaseFile.FILE + " in it or below it");
            }
            return found;
        } catch (IOException | UncheckedIOException e) {
            throw new BadRequestException("case", root.toString(), "cannot be listed (" + e.getMessage() + ")");
        }
    }

    @Override
    public void close() {
        run.close();
    }
}
