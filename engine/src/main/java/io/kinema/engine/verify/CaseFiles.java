package io.kinema.engine.verify;

import io.kinema.engine.BadRequestException;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Owns the tensor files that one case has opened until it is closed; closing twice is harmless. Used by one thread. A case
 * reaches the files of its golden set, whose root is two folders above ({@code ../../checkpoint},
 * {@code ../other/media.safetensors}), and none outside; a link inside the set is the owner's word and is followed.
 */
final class CaseFiles implements AutoCloseable {
    private final Path folder;
    private final Path root;
    private final Map<Path, SafetensorsFile> open = new HashMap<>();

    CaseFiles(Path folder) {
        this.folder = folder.toAbsolutePath().normalize();
        this.root = this.folder.resolve("../..").normalize();
    }

    /** The tensor at {@code file#tensor}. @throws io.kinema.weights.BadWeightsException when file or tensor is missing */
    Values values(String reference) {
        return Values.of(stored(reference));
    }

    /** Shape and dtype without reading the values. */
    StoredTensor stored(String reference) {
        int hash = reference.indexOf('#');
        if (hash < 0) {
            throw new BadRequestException(folder + " reference", reference, "expected file#tensor");
        }
        Path file = within(reference.substring(0, hash));
        return open.computeIfAbsent(file, SafetensorsFile::open).get(reference.substring(hash + 1));
    }

    /** A file of the case. @throws BadRequestException when it is missing */
    Path file(String name) {
        Path file = within(name);
        if (!Files.isRegularFile(file)) {
            throw new BadRequestException(folder + " file", name, "expected a file in the case's folder");
        }
        return file;
    }

    /** A model's or network's folder, or a weights file. @throws BadRequestException when it leaves the golden set */
    Path weights(String name) {
        return within(name);
    }

    /** @throws BadRequestException for an absolute path, one that leaves the golden set, or none at all */
    private Path within(String name) {
        try {
            Path path = Path.of(name);
            Path resolved = folder.resolve(path).normalize();
            if (!path.isAbsolute() && resolved.startsWith(root)) {
                return resolved;
            }
        } catch (InvalidPathException e) {
            throw new BadRequestException(folder + " path", name.replace('\0', '?'), "expected the name of a file (" + e.getReason() + ")");
        }
        throw new BadRequestException(folder + " path", name, "expected a relative path that stays inside the golden set " + root);
    }

    /** Looks that everything the check names is there, so that a broken case fails before anything is computed. */
    void require(CaseFile.Check check) {
        check.outputs().forEach(o -> stored(o.at()));
        check.stages().values().forEach(this::stored);
        check.inputs().values().forEach(in -> {
            if (in.indexOf('#') < 0) {
                file(in);
            } else {
                stored(in);
            }
        });
    }

    @Override
    public void close() {
        open.values().forEach(SafetensorsFile::close);
        open.clear();
    }
}
