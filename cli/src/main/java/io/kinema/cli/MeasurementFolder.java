package io.kinema.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.BadRequestException;
import io.kinema.measure.bench.BenchReport;
import io.kinema.measure.bench.BenchTable;
import io.kinema.measure.telemetry.Sample;
import io.kinema.media.file.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Owns the folder where a measurement leaves its files; one that the user did not name is removed when it is closed. */
final class MeasurementFolder implements AutoCloseable {
    private final Path folder;
    private final boolean kept;

    private MeasurementFolder(Path folder, boolean kept) {
        this.folder = folder;
        this.kept = kept;
    }

    /** @param named by the user; else a temporary folder. @throws BadRequestException when it is there and holds something, or cannot be made */
    static MeasurementFolder at(Optional<Path> named) {
        try {
            if (named.isEmpty()) {
                return new MeasurementFolder(Files.createTempDirectory("kinema-measure"), false);
            }
            if (Files.exists(named.get()) && !Files.isDirectory(named.get())) {
                throw new BadRequestException("output", "the file '" + named.get() + "'", "expected a new or an empty folder");
            }
            Path folder = Files.createDirectories(named.get());
            try (Stream<Path> held = Files.list(folder)) {
                if (held.findAny().isPresent()) {
                    throw new BadRequestException("output", "'" + folder + "', which holds files", "expected a new or an empty folder");
                }
            }
            return new MeasurementFolder(folder, true);
        } catch (IOException e) {
            throw new BadRequestException("output", "'" + named.map(Path::toString).orElse("a temporary folder") + "', which cannot be made", "expected a folder that can be written");
        }
    }

    Path path() {
        return folder;
    }

    /** Leaves {@code contract.json}, {@code performance.json}, {@code performance.md} and {@code telemetry.jsonl}. */
    void keep(BenchReport report) {
        if (kept) {
            write("contract.json", List.of(report.contract().toJson().toPrettyString()));
            write("performance.json", List.of(report.toJson().toPrettyString()));
            write("performance.md", List.of(BenchTable.of(report)));
            write("telemetry.jsonl", report.samples().stream().map(Sample::toJson).map(JsonNode::toString).toList());
        }
    }

    private void write(String name, List<String> lines) {
        try (AtomicFile target = AtomicFile.create(folder.resolve(name))) {
            ByteBuffer text = ByteBuffer.wrap(lines.stream().map(line -> line + "\n").collect(Collectors.joining()).getBytes(StandardCharsets.UTF_8));
            while (text.hasRemaining()) {
                try {
                    target.channel().write(text);
                } catch (IOException e) {
                    throw target.failure(e);
                }
            }
            target.commit();
        }
    }

    @Override
    public void close() {
        if (kept) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(folder + ": cannot be removed", e);
        }
    }
}
