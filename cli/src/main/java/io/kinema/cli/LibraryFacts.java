package io.kinema.cli;

import io.kinema.compute.cpu.CpuFacts;
import io.kinema.engine.Task;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.prompt.H3Tokenizer;
import io.kinema.media.MediaFacts;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the rooms say about the native libraries and the model they found. */
final class LibraryFacts {
    private static final String LIBRARIES_ADVICE = "native libraries are unpacked under ~/.cache/kinema; XDG_CACHE_HOME names another"
            + " folder, which must be writable and may hold programs";

    private LibraryFacts() {
    }

    /** @param model the folder to look at, too */
    static List<Finding> findings(Path model) {
        return List.of(probe("cpu_vectors", LibraryFacts::vectors), probe("blas", LibraryFacts::blas), probe("ffmpeg", LibraryFacts::ffmpeg),
                probe("tokenizer", () -> tokenizer(model)), probe("model", () -> model(model)));
    }

    private static Finding vectors() {
        CpuFacts facts = CpuFacts.of(Runtime.getRuntime().availableProcessors());
        return Finding.good("cpu_vectors", facts.vectorBits() + " bits, " + facts.vectorBits() / Float.SIZE + " floats");
    }

    private static Finding blas() {
        CpuFacts facts = CpuFacts.of(Runtime.getRuntime().availableProcessors());
        return Finding.good("blas", "OpenBLAS, " + facts.blasCore() + " kernels, " + facts.blasLibrary() + " (" + facts.blasConfig().strip() + ")");
    }

    private static Finding ffmpeg() {
        MediaFacts facts = MediaFacts.read();
        String value = facts.version() + ", " + facts.license() + ", writes " + facts.videoEncoder() + " and " + facts.audioEncoder()
                + ", " + facts.libraries();
        return facts.missing().isEmpty() ? Finding.good("ffmpeg", value)
                : Finding.bad("ffmpeg", value, "this build lacks " + String.join(", ", facts.missing()) + "; use the one that comes with Kinema");
    }

    private static Finding tokenizer(Path model) {
        try (H3Tokenizer tokenizer = H3Tokenizer.open(ModelFolder.open(model).folder(Component.TOKENIZER))) {
            int tokens = tokenizer.encodePrompt("A red circle").length;
            return Finding.good("tokenizer", "Hugging Face tokenizers, " + mapped("tokenizers") + (tokens > 0 ? "" : " (encodes nothing)"));
        }
    }

    /** Headers are read as generate reads them, values are not. */
    private static Finding model(Path folder) {
        ModelFolder model = ModelFolder.open(folder);
        List<NetworkFolder> networks = model.folders().keySet().stream().filter(Component::network).sorted().map(model::network).distinct().toList();
        networks.forEach(network -> network.open().close());
        boolean random = networks.stream().anyMatch(NetworkFolder::random);
        return Finding.good("model", model.root() + ", for " + model.tasks().stream().map(Task::label).collect(Collectors.joining(", "))
                + (random ? "; random values in place of weights" : ""));
    }

    /** The file of a loaded library, from the process's memory map. */
    private static String mapped(String library) {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains("/") && line.substring(line.lastIndexOf('/')).contains(library))
                    .map(line -> line.substring(line.indexOf('/'))).findFirst().orElse("loaded");
        } catch (IOException noSuchView) {
            return "loaded";
        }
    }

    private static Finding probe(String key, Supplier<Finding> look) {
        try {
            return look.get();
        } catch (BadWeightsException missing) {
            return Finding.bad(key, "cannot be used", missing.getMessage());
        } catch (RuntimeException | LinkageError failure) {
            return Finding.bad(key, "does not load", Failures.oneLine(String.valueOf(failure.getMessage())) + "; " + LIBRARIES_ADVICE);
        }
    }
}
