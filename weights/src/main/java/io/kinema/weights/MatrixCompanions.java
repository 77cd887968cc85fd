package io.kinema.weights;

import java.util.List;
import java.util.Optional;

/**
 * Puts a matrix together with the tensors beside it that say how to read it. What a matrix is follows from its dtype and these,
 * never from its name:
 * <ul>
 *   <li>{@code X.weight} of I8 needs {@code X.weight_scale} (F32, one for each row) and {@code X.comfy_quant} ({@link QuantizationMarker});
 *   <li>{@code X.weight} of F8 may have {@code X.weight_scale}, or {@code X.scale_weight} as it was called before (F32, one for all or
 *       one for each row), and {@code X.comfy_quant}; alone, its codes are the values.
 * </ul>
 * Scales of activations ({@code X.input_scale}, {@code X.scale_input}) are for hardware that multiplies FP8 by FP8; nothing here
 * reads them.
 */
public final class MatrixCompanions {
    /** What follows a module's name in the names of the tensors beside its weight. */
    public static final List<String> SUFFIXES = List.of(".weight_scale", ".comfy_quant", ".scale_weight", ".input_scale", ".scale_input");

    private static final String WEIGHT = ".weight";
    private static final String SCALE = SUFFIXES.get(0);
    private static final String MARKER = SUFFIXES.get(1);
    private static final String EARLIER_SCALE = SUFFIXES.get(2);

    private MatrixCompanions() {
    }

    /** The name of the weight that {@code name} stands beside, or empty when it is no companion's name. */
    public static Optional<String> weightOf(String name) {
        return SUFFIXES.stream().filter(name::endsWith).findFirst().map(s -> name.substring(0, name.length() - s.length()) + WEIGHT);
    }

    /** Rows {@code [from, to)} of the matrix called {@code name}. */
    static StoredMatrix rows(TensorSource source, String name, long from, long to) {
        StoredTensor values = source.rows(name, from, to);
        requireMatrix(values);
        String module = name.endsWith(WEIGHT) ? name.substring(0, name.length() - WEIGHT.length()) : "";
        return switch (values.dtype()) {
            case F8_E4M3, F8_E5M2 -> float8(source, values, module, from, to);
            case F64, F32, F16, BF16 -> new FloatMatrix(values);
            case I8 -> int8(source, values, module, from, to);
            default -> throw new BadWeightsException(values.file() + ": tensor " + name + " is " + values.dtype()
                    + ", expected a float dtype, or I8 with a scale for each row; use a float or INT8 checkpoint");
        };
    }

    private static Int8Matrix int8(TensorSource source, StoredTensor values, String module, long from, long to) {
        if (module.isEmpty()) {
            throw new BadWeightsException(values.file() + ": tensor " + values.name() + " is I8, expected so only of a " + WEIGHT + " with its scales");
        }
        StoredTensor scales = companion(source, values, module + SCALE, "the scales of its rows");
        requireScales(scales, values, source.shape(values.name()).dim(0), false);
        QuantizationMarker marker = marker(source, values, module).orElseThrow(() -> missing(values, module + MARKER, "the bytes that say whether it is rotated"));
        requireFormat(marker, values, QuantizationMarker.INT8);
        return new Int8Matrix(values, scales.rows(from, to), marker.rotation());
    }

    private static Float8Matrix float8(TensorSource source, StoredTensor values, String module, long from, long to) {
        Optional<StoredTensor> scales = module.isEmpty() ? Optional.empty() : source.find(module + SCALE).or(() -> source.find(module + EARLIER_SCALE));
        long rows = source.shape(values.name()).dim(0);
        scales.ifPresent(s -> requireScales(s, values, rows, true));
        Optional<QuantizationMarker> marker = module.isEmpty() ? Optional.empty() : marker(source, values, module);
        marker.ifPresent(m -> {
            requireFormat(m, values, values.dtype() == DType.F8_E4M3 ? QuantizationMarker.FLOAT8_E4M3 : QuantizationMarker.FLOAT8_E5M2);
            scales.orElseThrow(() -> missing(values, module + SCALE, "its scale"));
        });
        return new Float8Matrix(values, scales.map(s -> s.shape().elements() == 1 && rows != 1 ? s : s.rows(from, to)));
    }

    private static Optional<QuantizationMarker> marker(TensorSource source, StoredTensor values, String module) {
        return source.find(module + MARKER).map(m -> QuantizationMarker.read(m, values.shape().dim(1)));
    }

    private static void requireFormat(QuantizationMarker marker, StoredTensor values, String format) {
        if (!marker.format().equals(format)) {
            throw new BadWeightsException(values.file() + ": tensor " + values.name() + " is " + values.dtype() + " and its marker says "
                    + marker.format() + ", expected " + format + "; the file is damaged");
        }
    }

    private static void requireMatrix(StoredTensor values) {
        if (values.shape().rank() != 2) {
            throw new BadWeightsException(values.file() + ": tensor " + values.name() + " has shape " + values.shape() + ", expected a matrix");
        }
    }

    private static void requireScales(StoredTensor scales, StoredTensor values, long rows, boolean orOne) {
        boolean column = scales.shape().rank() == 1 || scales.shape().rank() == 2 && scales.shape().dim(1) == 1;
        boolean one = orOne && scales.shape().elements() == 1;
        if (scales.dtype() != DType.F32 || !one && !(column && scales.shape().dim(0) == rows)) {
            throw new BadWeightsException(scales.file() + ": tensor " + scales.name() + " is " + scales.dtype() + scales.shape()
                    + ", expected F32[" + rows + "], one scale for each row of " + values.name() + (orOne ? ", or one scale for all" : ""));
        }
    }

    private static StoredTensor companion(TensorSource source, StoredTensor values, String name, String what) {
        return source.find(name).orElseThrow(() -> missing(values, name, what));
    }

    private static BadWeightsException missing(StoredTensor values, String name, String what) {
        return new BadWeightsException(values.file() + ": tensor " + values.name() + " is " + values.dtype() + " and " + name + " (" + what
                + ") is missing; the file is incomplete or of another format");
    }
}
