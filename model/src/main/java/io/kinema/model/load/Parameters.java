package io.kinema.model.load;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.WeightLoader;
import io.kinema.compute.Workspace;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.FloatMatrix;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Reads named, shape-checked parameters of a network onto a backend. Owns nothing: mapped tensors belong to the source,
 * copies to the workspace given here.
 *
 * @param backend  where the tensors go; never told to bring them, since a loader may run beside it
 * @param source   the checkpoint
 * @param owner    memory for copies (converted or uploaded tensors)
 * @param prefix   put before every name
 * @param rounding how matrices are stored for products
 * @param layout   in which order the values of matrices rounded to FP16 lie; others stay as stored
 * @param loader   brings them there: the backend itself, or one beside it
 * @param known    their values were looked at before, and every one fits the rounding
 */
public record Parameters(Backend backend, TensorSource source, Workspace owner, String prefix, Rounding rounding, MatrixLayout layout,
                         WeightLoader loader, boolean known) {

    /** Smaller tensors are widened as fast as they are looked up. */
    private static final long WORTH_KEEPING = 1 << 16;
    private static final TensorSource NOTHING = MemoryTensors.builder("tensors at hand").build();

    /** What happens to a matrix's values when it is loaded. */
    public enum Rounding {
        /** Kept in the dtype of the file (F64 and F8 become F32, which products can read). */
        AS_STORED,
        /** Rounded to FP16; a value that is not finite or would overflow is refused by name. */
        F16,
        /** Rounded to BF16. */
        BF16;

        /** The rounding that a precision plan asks of its matrices. */
        public static Rounding of(Precision precision) {
            return switch (precision) {
                case FP32 -> AS_STORED;
                case FP16_FP32RES -> F16;
                case BF16_FP32RES -> BF16;
            };
        }
    }

    /** A reader that keeps the rows of matrices together. */
    public Parameters(Backend backend, TensorSource source, Workspace owner, String prefix, Rounding rounding) {
        this(backend, source, owner, prefix, rounding, MatrixLayout.ROW);
    }

    /** A reader that looks at all values which it rounds. */
    public Parameters(Backend backend, TensorSource source, Workspace owner, String prefix, Rounding rounding, MatrixLayout layout) {
        this(backend, source, owner, prefix, rounding, layout, backend, false);
    }

    /** A reader for tensors that are at hand; it has no checkpoint to look names up in. */
    public static Parameters atHand(Backend backend, Workspace owner, Rounding rounding) {
        return new Parameters(backend, NOTHING, owner, "", rounding);
    }

    /** The same reader with {@code more} appended to the prefix. */
    public Parameters under(String more) {
        return new Parameters(backend, source, owner, prefix + more, rounding, layout, loader, known);
    }

    /** The same reader with another rounding (FP32 islands use {@link Rounding#AS_STORED}). */
    public Parameters rounded(Rounding other) {
        return new Parameters(backend, source, owner, prefix, other, layout, loader, known);
    }

    /** The same reader with copies in {@code other}. */
    public Parameters into(Workspace other) {
        return new Parameters(backend, source, other, prefix, rounding, layout, loader, known);
    }

    /** The same reader of another source. */
    public Parameters from(TensorSource other) {
        return new Parameters(backend, other, owner, prefix, rounding, layout, loader, known);
    }

    /** The same reader by way of another loader. */
    public Parameters by(WeightLoader other) {
        return new Parameters(backend, source, owner, prefix, rounding, layout, other, known);
    }

    /** The same reader for what was read before: it does not look at the values again. */
    public Parameters knowing(boolean before) {
        return new Parameters(backend, source, owner, prefix, rounding, layout, loader, before);
    }

    /** @throws BadWeightsException when a parameter is absent or of another shape; its values are not read */
    public void require(String name, long... dims) {
        TensorChecks.requireShape(source.shape(prefix + name), source.origin(), prefix + name, dims);
    }

    /** True when the checkpoint has this name. */
    public boolean has(String name) {
        return source.header(prefix + name).isPresent();
    }

    /** A parameter in the file's dtype. @throws BadWeightsException when absent or of another shape */
    public Tensor stored(String name, long... dims) {
        return loader.load(checked(name, dims), owner);
    }

    /** A small parameter widened to FP32 (norm weights, biases, convolution kernels). */
    public Tensor f32(String name, long... dims) {
        StoredTensor stored = checked(name, dims);
        if (stored.dtype() == DType.F32 && stored.data().address() % Float.BYTES == 0) {
            return values().loaded(stored);
        }
        return whole(stored, DType.F32);
    }

    /**
     * A matrix [n, k] for {@code linear}: plain floats rounded as this reader says, integers and other encodings as they are
     * stored. Which of them it is follows from what {@link TensorSource#matrix(String)} finds: its dtype and the tensors beside it.
     */
    public Weight matrix(String name, long n, long k) {
        return matrix(name, n, k, Share.WHOLE);
    }

    /**
     * A rank's part of a matrix [n, k]. A part of the inputs is a view where the stored values are where products run and need no rounding, else a copy
     * of that part alone.
     *
     * @throws BadWeightsException when rotated groups of inputs would be cut
     */
    public Weight matrix(String name, long n, long k, Share share) {
        require(name, n, k);
        return switch (share.axis()) {
            case OUTPUTS -> weight(name, share.from(n), share.to(n));
            case INPUTS -> share.parts() == 1 ? weight(name, 0, n) : inputs(name, n, k, share);
        };
    }

    /** A matrix that is at hand, for {@code linear}, rounded as this reader says. */
    public Weight matrix(StoredTensor stored) {
        return new DenseWeight(values().rounded(stored));
    }

    /** A rank's part of a matrix that is at hand, for {@code linear}, rounded as this reader says. */
    public Weight matrix(StoredTensor stored, Share share) {
        Shape shape = stored.shape();
        return switch (share.axis()) {
            case OUTPUTS -> matrix(share.parts() == 1 ? stored : stored.rows(share.from(shape.dim(0)), share.to(shape.dim(0))));
            case INPUTS -> values().inputs(new FloatMatrix(stored), share);
        };
    }

    /** A convolution kernel [n, rest...] whose step equals its size, as the matrix [n, product of rest] it then is. */
    public Weight kernelMatrix(String name, long n, long... rest) {
        long[] dims = new long[rest.length + 1];
        dims[0] = n;
        System.arraycopy(rest, 0, dims, 1, rest.length);
        StoredTensor stored = checked(name, dims);
        DType wanted = values().wanted(stored.dtype());
        return new DenseWeight((wanted == stored.dtype() ? values().rounded(stored) : whole(stored, wanted)).reshape(n, -1));
    }

    /**
     * A matrix [parts * n, k] that holds {@code parts} layers' matrices one below the other, each [n, k]. Each is asked of the
     * source for itself, so that one which stores them in another order need not copy them.
     */
    public List<Weight> stackedMatrices(String name, int parts, long n, long k) {
        return stackedMatrices(name, parts, n, k, Share.WHOLE);
    }

    /** The same with a rank's outputs of each of them. */
    public List<Weight> stackedMatrices(String name, int parts, long n, long k, Share share) {
        require(name, parts * n, k);
        return IntStream.range(0, parts).mapToObj(i -> weight(name, i * n + share.from(n), i * n + share.to(n))).toList();
    }

    /** A parameter's values on the Java heap, widened or rounded to FP32; for small tables that are computed at load. */
    public float[] host(String name, long... dims) {
        return FloatConversion.toFloats(checked(name, dims));
    }

    /** FP32 values computed at load, as a tensor in the owner's memory. */
    public Tensor upload(float[] values, long... dims) {
        return values().upload(values, dims);
    }

    private ProductValues values() {
        return new ProductValues(backend, owner, rounding, layout, loader, known);
    }

    /**
     * FP32 values that are computed from tensors of the checkpoint, and from nothing else.
     *
     * @param what names them; no tensor of the checkpoint is called so
     */
    public Tensor computed(String what, Supplier<float[]> values, long... dims) {
        return prepared(new PreparedTensors.Form(prefix + what, Share.Axis.OUTPUTS, 0, dims[0], DType.F32, MatrixLayout.ROW), memory -> into(memory).upload(values.get(), dims))
                .orElseGet(() -> upload(values.get(), dims));
    }

    private Weight weight(String name, long from, long to) {
        return finalForm(name, Share.Axis.OUTPUTS, from, to, to).flatMap(form -> prepared(form, memory -> into(memory).form(form, name)))
                .<Weight>map(DenseWeight::new).orElseGet(() -> made(name, from, to));
    }

    private Weight inputs(String name, long n, long k, Share share) {
        return finalForm(name, Share.Axis.INPUTS, share.from(k), share.to(k), n)
                .flatMap(form -> prepared(form, memory -> ((DenseWeight) into(memory).values().inputs(source.matrix(prefix + name), share)).values()))
                .<Weight>map(DenseWeight::new).orElseGet(() -> values().inputs(source.matrix(prefix + name), share));
    }

    /**
     * The form that a source which has prepared tensors is asked for; empty for coded matrices and for what is read as it lies.
     *
     * @param rows after the last that is read
     */
    private Optional<PreparedTensors.Form> finalForm(String name, Share.Axis axis, long from, long to, long rows) {
        String full = prefix + name;
        Optional<DType> stored = source.header(full).flatMap(TensorHeader::dtype).filter(StoredTypes::plain);
        if (!(source instanceof PreparedTensors) || stored.isEmpty()) {
            return Optional.empty();
        }
        DType wanted = values().wanted(stored.get());
        MatrixLayout order = rounding == Rounding.F16 ? layout : MatrixLayout.ROW;
        long first = axis == Share.Axis.OUTPUTS ? from : 0;
        boolean asItLies = wanted == stored.get() && order == MatrixLayout.ROW && source.runEnd(full, first, rows) == rows;
        return asItLies ? Optional.empty() : Optional.of(new PreparedTensors.Form(full, axis, from, to, wanted, order));
    }

    /** Rows that are only put in order are read as rows: a source keeps matrices that it put together. */
    private Tensor form(PreparedTensors.Form form, String name) {
        boolean inOrderOnly = form.layout() == MatrixLayout.ROW && source.header(form.name()).flatMap(TensorHeader::dtype).equals(Optional.of(form.dtype()));
        return inOrderOnly ? values().loaded(source.rows(form.name(), form.from(), form.to())) : ((DenseWeight) made(name, form.from(), form.to())).values();
    }

    private Optional<Tensor> prepared(PreparedTensors.Form form, Function<Workspace, Tensor> make) {
        return source instanceof PreparedTensors kept ? kept.prepared(form, make).map(stored -> {
            Tensor tensor = loader.load(stored, owner);
            return form.layout() == MatrixLayout.COLUMN ? tensor.permute(1, 0) : tensor;
        }) : Optional.empty();
    }

    /** A whole tensor in another dtype. */
    private Tensor whole(StoredTensor stored, DType wanted) {
        long rows = stored.shape().rank() == 0 ? 1 : stored.shape().dim(0);
        if (stored.shape().elements() * wanted.bytes() < WORTH_KEEPING) {
            return values().rounded(stored, wanted);
        }
        return prepared(new PreparedTensors.Form(stored.name(), Share.Axis.OUTPUTS, 0, rows, wanted, MatrixLayout.ROW), memory -> into(memory).values().rounded(stored, wanted))
                .orElseGet(() -> values().rounded(stored, wanted));
    }

    private Weight made(String name, long from, long to) {
        return inRuns(prefix + name, from, to).<Weight>map(DenseWeight::new).orElseGet(() -> values().weight(source.matrix(prefix + name, from, to)));
    }

    /** A matrix whose rows lie in several runs and that is rounded anyway: each run goes to its place, and the source need not gather them. */
    private Optional<Tensor> inRuns(String name, long from, long to) {
        Optional<DType> stored = source.header(name).flatMap(TensorHeader::dtype).filter(d -> StoredTypes.productDtype(d) == d);
        if (rounding == Rounding.AS_STORED || stored.isEmpty() || stored.get() == values().wanted(stored.get()) || source.runEnd(name, from, to) == to) {
            return Optional.empty();
        }
        long columns = source.shape(name).dim(1);
        boolean byColumn = rounding == Rounding.F16 && layout == MatrixLayout.COLUMN;
        Tensor all = byColumn ? owner.allocate(DType.F16, columns, to - from).permute(1, 0) : owner.allocate(values().wanted(stored.get()), to - from, columns);
        for (long row = from; row < to; ) {
            long end = source.runEnd(name, row, to);
            StoredTensor run = source.rows(name, row, end);
            if (rounding == Rounding.F16 && !known) {
                WeightRange.require(run);
            }
            try (Workspace.Frame _ = owner.frame()) {
                loader.copy(values().loaded(run), all.slice(0, row - from, end - from));
            }
            row = end;
        }
        return Optional.of(all);
    }

    private StoredTensor checked(String name, long... dims) {
        StoredTensor stored = source.get(prefix + name);
        TensorChecks.requireShape(stored.shape(), stored.file().toString(), stored.name(), dims);
        return TensorChecks.floating(stored);
    }
}
