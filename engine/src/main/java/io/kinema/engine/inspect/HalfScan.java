package io.kinema.engine.inspect;

import io.kinema.engine.convert.Workers;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MatrixValues;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import io.kinema.weights.WeightFiles;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * What FP16 would do to a model's matrices: reads every value once, in pieces and on several threads, and keeps nothing. The
 * numbers do not depend on how many threads there are.
 */
public final class HalfScan {
    /** Values of a piece of work. */
    private static final long PIECE = 1 << 20;
    private static final float LARGEST = 65504;

    private HalfScan() {
    }

    /**
     * One matrix, or a sum over several.
     *
     * @param component the component it belongs to
     * @param name      in the file
     * @param encoding  a dtype's name, or how its values are coded; coded values are counted as they decode
     * @param values    how many there are
     * @param overflow  finite values beyond 65504
     * @param nonFinite infinities and NaN
     * @param underflow values that are not 0 and become 0
     * @param largest   magnitude of the largest finite value
     * @param error     sum of squared differences between the other values and FP16's
     * @param norm      sum of those values squared
     */
    public record Row(String component, String name, String encoding, long values, long overflow, long nonFinite, long underflow, double largest,
                      double error, double norm) {
        /** Norm of the difference over the norm, of values that FP16 holds; 0 for none. */
        public double relativeL2() {
            return norm == 0 ? 0 : Math.sqrt(error / norm);
        }

        /** True when FP16 can hold every value. */
        public boolean fits() {
            return overflow == 0 && nonFinite == 0;
        }

        private Row plus(Row other) {
            return new Row(component, name, encoding, values + other.values, overflow + other.overflow, nonFinite + other.nonFinite,
                    underflow + other.underflow, Math.max(largest, other.largest), error + other.error, norm + other.norm);
        }
    }

    /**
     * @param matrices one row for each tensor of two axes or more
     * @param total    over all of them
     */
    public record Report(List<Row> matrices, Row total) {
        public Report {
            matrices = List.copyOf(matrices);
        }
    }

    /**
     * Scans what {@link ModelInspector#inspect} lists, shared folders once.
     *
     * @param progress is told the name of each component when it begins
     * @throws io.kinema.weights.BadWeightsException when something cannot be read
     */
    public static Report scan(Path path, int threads, Consumer<String> progress) {
        List<Row> rows = new ArrayList<>();
        try (Workers workers = new Workers(threads)) {
            for (ComponentReport component : ModelInspector.inspect(path).components()) {
                if (component.random()) {
                    throw new BadWeightsException(component.path() + ": random values stand in for its weights, expected weights; there is nothing to scan");
                }
                if (component.sharedWith().isEmpty() && !component.tensors().isEmpty()) {
                    progress.accept(component.name());
                    scan(component, workers, rows);
                }
            }
        }
        Row none = new Row("all", "all matrices", "", 0, 0, 0, 0, 0, 0, 0);
        return new Report(rows, rows.stream().reduce(none, Row::plus));
    }

    private static void scan(ComponentReport component, Workers workers, List<Row> rows) {
        List<Path> files = component.files();
        Path from = Files.isDirectory(component.path()) && files.size() > 1 ? component.path() : files.getFirst();
        try (TensorSource source = WeightFiles.open(from)) {
            for (String name : source.names()) {
                TensorHeader header = source.header(name).orElseThrow();
                if (header.shape().rank() >= 2 && header.floating() && header.readable()) {
                    Row none = new Row(component.name(), name, header.encoding(), 0, 0, 0, 0, 0, 0, 0);
                    rows.add(workers.all(work(source, header, none)).stream().reduce(none, Row::plus));
                }
            }
        }
    }

    private static List<Callable<Row>> work(TensorSource source, TensorHeader header, Row none) {
        long rows = header.shape().dim(0);
        long width = rows == 0 ? 0 : header.shape().elements() / rows;
        long step = Math.max(1, PIECE / Math.max(1, width));
        List<Callable<Row>> work = new ArrayList<>();
        for (long row = 0; row < rows; row += step) {
            long from = row;
            long to = Math.min(rows, row + step);
            work.add(() -> count(none, values(source, header, from, to, Math.toIntExact((to - from) * width))));
        }
        return work;
    }

    private static float[] values(TensorSource source, TensorHeader header, long from, long to, int count) {
        float[] values = new float[count];
        Optional<DType> dtype = header.dtype();
        if (dtype.isEmpty()) {
            MatrixValues.decode(source.matrix(header.name(), from, to), 0, to - from, values, 0);
        } else {
            StoredTensor rows = source.rows(header.name(), from, to);
            FloatConversion.convert(rows.dtype(), rows.data(), DType.F32, MemorySegment.ofArray(values), count);
        }
        return values;
    }

    private static Row count(Row none, float[] values) {
        long overflow = 0;
        long nonFinite = 0;
        long underflow = 0;
        float largest = 0;
        double error = 0;
        double norm = 0;
        for (float v : values) {
            float magnitude = Math.abs(v);
            if (!(magnitude < Float.POSITIVE_INFINITY)) {
                nonFinite++;
                continue;
            }
            largest = Math.max(largest, magnitude);
            if (magnitude > LARGEST) {
                overflow++;
                continue;
            }
            float half = Float.float16ToFloat(Float.floatToFloat16(v));
            underflow += half == 0 && v != 0 ? 1 : 0;
            double difference = (double) half - v;
            error += difference * difference;
            norm += (double) v * v;
        }
        return new Row(none.component(), none.name(), none.encoding(), values.length, overflow, nonFinite, underflow, largest, error, norm);
    }
}
