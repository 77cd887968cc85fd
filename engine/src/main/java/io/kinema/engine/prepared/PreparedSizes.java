package io.kinema.engine.prepared;

import io.kinema.compute.MatrixLayout;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.DType;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What headers and file sizes tell of weights before they are prepared. */
final class PreparedSizes {
    private PreparedSizes() {
    }

    /** Bytes of the files in a folder, or of a file; 0 for what is not there. */
    static long fileBytes(Path folderOrFile) {
        try (Stream<Path> files = Files.isDirectory(folderOrFile) ? Files.list(folderOrFile) : Stream.of(folderOrFile)) {
            return files.filter(Files::isRegularFile).mapToLong(PreparedSizes::size).sum();
        } catch (IOException | UncheckedIOException unreadable) {
            return 0;
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The files that hold a source's tensors; empty when some of them are in none. */
    static Optional<Set<Path>> files(TensorSource source) {
        Set<Path> files = new TreeSet<>();
        for (String name : source.names()) {
            source.header(name).map(TensorHeader::file).ifPresent(files::add);
        }
        return !files.isEmpty() && files.stream().allMatch(Files::isRegularFile) ? Optional.of(files) : Optional.empty();
    }

    /** The most bytes that preparing a network can make. */
    static long most(TensorSource source, NetworkOpening.Form form) {
        return source.names().stream().map(source::header).flatMap(Optional::stream).mapToLong(header -> most(source, header, form)).sum();
    }

    private static long most(TensorSource source, TensorHeader header, NetworkOpening.Form form) {
        Optional<DType> dtype = header.dtype().filter(DType::floating);
        if (dtype.isEmpty() || header.shape().rank() < 2) {
            return 0;
        }
        long elements = header.shape().elements();
        long asMatrix = asItLies(source, header, dtype.get(), form) ? 0 : elements * wanted(dtype.get(), form.rounding()).bytes();
        // Kernels are read as FP32, or as matrices where their step is their size.
        boolean widened = header.shape().rank() > 2 && (form.folds() || dtype.get() != DType.F32);
        return Math.max(asMatrix, widened ? elements * Float.BYTES : 0);
    }

    private static boolean asItLies(TensorSource source, TensorHeader header, DType dtype, NetworkOpening.Form form) {
        long rows = header.shape().dim(0);
        boolean byColumn = form.rounding() == Rounding.F16 && form.layout() == MatrixLayout.COLUMN;
        // Matrices of eight bits are coded, and stay as they are.
        return dtype.bytes() == 1 || wanted(dtype, form.rounding()) == dtype && !byColumn && (rows == 0 || source.runEnd(header.name(), 0, rows) == rows);
    }

    private static DType wanted(DType stored, Rounding rounding) {
        return switch (rounding) {
            case F16 -> DType.F16;
            case BF16 -> DType.BF16;
            case AS_STORED -> stored == DType.F64 ? DType.F32 : stored;
        };
    }
}
