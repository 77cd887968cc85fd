package io.kinema.engine.verify;

import io.kinema.engine.BadRequestException;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Owns the tensor files that one case has opened until it is closed; closing twice is harmless. Used by one thread. */
final class CaseFiles implements AutoCloseable {
    private final Path folder;
    private final Map<Path, SafetensorsFile> open = new HashMap<>();

    CaseFiles(Path folder) {
        this.folder = folder;
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
        Path file = folder.resolve(reference.substring(0, hash)).normalize();
        return open.computeIfAbsent(file, SafetensorsFile::open).get(reference.substring(hash + 1));
    }

    /** A file of the case. @throws BadRequestException when it is missing */
    Path file(String name) {
        Path file = folder.resolve(name).normalize();
        if (!Files.isRegularFile(file)) {
            throw new BadRequestException(folder + " file", name, "expected a file in the case's folder");
        }
        return file;
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
