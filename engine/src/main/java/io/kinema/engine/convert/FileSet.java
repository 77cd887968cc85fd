package io.kinema.engine.convert;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.convert.ConversionReport.Written;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.CheckpointIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of one conversion: writes them below a folder, reads each back, and keeps their checksums. Used by one thread. */
final class FileSet {
    private final Path root;
    private final Consumer<String> progress;
    private final List<Written> written = new ArrayList<>();

    /** @param progress is told the name of each file when it is there */
    FileSet(Path root, Consumer<String> progress) {
        this.root = root;
        this.progress = progress;
    }

    /** Writes weights. */
    void weights(String name, NetworkWriter network) {
        Path file = place(name);
        add(name, file, network.write(file));
    }

    /** Writes a JSON file. */
    void json(String name, JsonNode node) {
        bytes(name, (node.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Copies a file. */
    void copy(String name, Path from) {
        Path file = place(name);
        try {
            Files.copy(from, file);
            String sha256 = CheckpointIdentity.sha256(file);
            if (!sha256.equals(CheckpointIdentity.sha256(from))) {
                throw new BadWeightsException(file + ": was read back other than " + from + " is; check the disk");
            }
            add(name, file, sha256);
        } catch (IOException e) {
            throw failed(file, e);
        }
    }

    /** Copies the plain files of a folder that are no weights. */
    void copyOthers(String name, Path folder, List<String> except) {
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(Files::isRegularFile).filter(f -> !weights(f) && !except.contains(f.getFileName().toString())).sorted()
                    .forEach(f -> copy(name + "/" + f.getFileName(), f));
        } catch (IOException e) {
            throw failed(folder, e);
        }
    }

    /** Gives every file below one name a second name below another: one file on the disk where the file system has links, else a copy. */
    void again(String from, String to) {
        for (Written file : List.copyOf(written)) {
            if (file.name().startsWith(from)) {
                String name = to + file.name().substring(from.length());
                Path second = place(name);
                try {
                    Files.createLink(second, root.resolve(file.name()));
                    add(name, second, file.sha256());
                } catch (IOException | UnsupportedOperationException e) {
                    copy(name, root.resolve(file.name()));
                }
            }
        }
    }

    /** Writes the list of checksums and says what there is. @param target where the folder will stand */
    ConversionReport finished(Path target) {
        List<Written> sorted = written.stream().sorted(Comparator.comparing(Written::name)).toList();
        String lines = sorted.stream().map(w -> w.sha256() + "  " + w.name() + "\n").collect(Collectors.joining());
        bytes(ConversionReport.CHECKSUMS, lines.getBytes(StandardCharsets.UTF_8));
        return new ConversionReport(target, sorted);
    }

    private void bytes(String name, byte[] content) {
        Path file = place(name);
        try {
            Files.write(file, content);
            if (!Arrays.equals(content, Files.readAllBytes(file))) {
                throw new BadWeightsException(file + ": was read back other than it was written; check the disk");
            }
            add(name, file, CheckpointIdentity.sha256(file));
        } catch (IOException e) {
            throw failed(file, e);
        }
    }

    private void add(String name, Path file, String sha256) {
        try {
            written.add(new Written(name, Files.size(file), sha256));
            progress.accept(name);
        } catch (IOException e) {
            throw failed(file, e);
        }
    }

    private Path place(String name) {
        Path file = root.resolve(name);
        try {
            Files.createDirectories(file.getParent());
            return file;
        } catch (IOException e) {
            throw failed(file, e);
        }
    }

    private static boolean weights(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(".safetensors") || name.endsWith(".safetensors.index.json") || name.equals(ConversionReport.CHECKSUMS);
    }

    private static BadWeightsException failed(Path file, IOException e) {
        return new BadWeightsException(file + ": cannot be written (" + e.getClass().getSimpleName() + ": " + e.getMessage()
                + "); check the folder, its permissions and the free space", e);
    }
}
