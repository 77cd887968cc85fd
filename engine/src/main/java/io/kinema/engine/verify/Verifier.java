package io.kinema.engine.verify;

import io.kinema.engine.BadRequestException;
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
        return new Verifier(new RunSettings(options, Backends.opener(options.device(), options.threads())));
    }

    /**
     * Runs the cases in name order and tells {@code listener} each result as soon as it is known.
     *
     * @param paths folders that hold a {@code case.json}, such files, or trees of such folders
     * @throws BadRequestException when there is no case, or a case is not of the format; nothing has been run then
     * @throws io.kinema.weights.BadWeightsException when a tensor file of a case is missing or broken; nothing has been run then
     */
    public VerifyReport verify(List<Path> paths, Consumer<CheckResult> listener) {
        List<CaseFile> cases = find(paths).stream().map(CaseFile::read).toList();
        cases.forEach(Verifier::requireRunnable);
        VerifyReport report = VerifyReport.EMPTY;
        for (CaseFile file : cases) {
            try (CaseFiles files = new CaseFiles(file.folder())) {
                CheckRunner runner = new CheckRunner(file, files, run, COMPONENTS.get(file.component()));
                report = report.plusCase();
                for (CaseFile.Check check : file.checks()) {
                    List<CheckResult> results = runner.run(check);
                    results.forEach(listener);
                    report = report.plusCheck(results);
                }
            }
        }
        return report;
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
            List<Path> found = all.filter(p -> p.getFileName().toString().equals(CaseFile.FILE)).map(Path::getParent).sorted().toList();
            if (found.isEmpty()) {
                throw new BadRequestException("case", root.toString(), "expected a folder with a " + CaseFile.FILE + " in it or below it");
            }
            return found;
        } catch (IOException | UncheckedIOException e) {
            throw new BadRequestException("case", root.toString(), "cannot be listed (" + e.getMessage() + ")");
        }
    }

    private static void requireRunnable(CaseFile file) {
        Operations component = COMPONENTS.get(file.component());
        if (component == null) {
            throw new BadRequestException(file.folder() + " component", file.component(), "expected one of " + COMPONENTS.keySet());
        }
        try (CaseFiles files = new CaseFiles(file.folder())) {
            for (CaseFile.Check check : file.checks()) {
                if (!component.byName().containsKey(check.op())) {
                    throw new BadRequestException(file.folder() + " check " + check.number() + " op", check.op(),
                            "expected one of " + new TreeMap<>(component.byName()).keySet());
                }
                files.require(check);
            }
        }
    }

    @Override
    public void close() {
        run.close();
    }
}
