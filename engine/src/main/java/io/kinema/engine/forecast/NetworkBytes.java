package io.kinema.engine.forecast;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.weights.DType;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a network's weights take, by what can be staged: from headers alone.
 *
 * @param fixed      outside of what repeats
 * @param layers     all that are walked through in every step
 * @param layer      the largest of them
 * @param count      how many there are
 * @param once       repeated parts that are walked through once a request and stay only where nothing is staged
 * @param projection the largest part that never stays: it is brought when it is multiplied by
 * @param part       the largest of {@code once}
 */
record NetworkBytes(Bytes fixed, Bytes layers, Bytes layer, int count, Bytes once, Bytes projection, Bytes part) {
    private static final Pattern DIT_LAYER = Pattern.compile("transformer_blocks\\.(\\d+)\\..*");
    private static final Pattern REFINER = Pattern.compile("token_refiner\\.refiner_blocks\\.(\\d+)\\..*");
    private static final Pattern TEXT_LAYER = Pattern.compile("model\\.language_model\\.layers\\.(\\d+)\\..*");
    private static final Pattern UNUSED = Pattern.compile("lm_head\\..*|model\\.language_model\\.norm\\..*");

    /**
     * @param stored as in the files
     * @param device in the form that products read, on a device
     * @param copies of it in the host's own memory, where the processor computes: what is not a view of the files
     */
    record Bytes(long stored, long device, long copies) {
        static final Bytes NONE = new Bytes(0, 0, 0);

        Bytes plus(Bytes other) {
            return new Bytes(stored + other.stored, device + other.device, copies + other.copies);
        }

        Bytes over(int parts) {
            return new Bytes(stored, Math.ceilDiv(device, parts), copies);
        }

        Bytes max(Bytes other) {
            return other.device > device ? other : this;
        }
    }

    /** What each of several devices holds that share the repeated parts out; the host holds all of them. */
    NetworkBytes over(int ranks) {
        return new NetworkBytes(fixed, layers.over(ranks), layer.over(ranks), count, once.over(ranks), projection, part.over(ranks));
    }

    /** Of a transformer. */
    static NetworkBytes transformer(TensorSource source, Precision precision, MatrixLayout layout) {
        Bytes fixed = Bytes.NONE;
        Map<String, Bytes> layers = new TreeMap<>();
        Map<String, Bytes> refiner = new TreeMap<>();
        Bytes projection = Bytes.NONE;
        for (String name : source.names()) {
            TensorHeader header = source.header(name).orElseThrow();
            Matcher layer = DIT_LAYER.matcher(name);
            Matcher once = REFINER.matcher(name);
            if (!DitTensors.everyStep(name)) {
                projection = projection.max(asStored(header));
            } else if (layer.matches()) {
                layers.merge(layer.group(1), rounded(header, precision, layout), Bytes::plus);
            } else if (once.matches()) {
                refiner.merge(once.group(1), rounded(header, precision, layout), Bytes::plus);
            } else {
                fixed = fixed.plus(asStored(header));
            }
        }
        return of(fixed, layers, refiner, projection);
    }

    /** Of a text encoder: the layers that condition the model; later ones are never read. */
    static NetworkBytes textEncoder(TensorSource source, Precision precision) {
        Bytes fixed = Bytes.NONE;
        Map<String, Bytes> layers = new TreeMap<>();
        for (String name : source.names()) {
            Matcher layer = TEXT_LAYER.matcher(name);
            if (layer.matches() && Integer.parseInt(layer.group(1)) < TextEncoderConfig.CONDITION_LAYER) {
                layers.merge(layer.group(1), rounded(source.header(name).orElseThrow(), precision, MatrixLayout.ROW), Bytes::plus);
            } else if (!layer.matches() && !UNUSED.matcher(name).matches()) {
                TensorHeader header = source.header(name).orElseThrow();
                fixed = fixed.plus(name.contains("embed_tokens") ? asStored(header) : rounded(header, precision, MatrixLayout.ROW));
            }
        }
        return of(fixed, layers, Map.of(), Bytes.NONE);
    }

    private static NetworkBytes of(Bytes fixed, Map<String, Bytes> layers, Map<String, Bytes> once, Bytes projection) {
        return new NetworkBytes(fixed, sum(layers), largest(layers), layers.size(), sum(once), projection, largest(once));
    }

    private static Bytes sum(Map<String, Bytes> parts) {
        return parts.values().stream().reduce(Bytes.NONE, Bytes::plus);
    }

    private static Bytes largest(Map<String, Bytes> parts) {
        return parts.values().stream().reduce(Bytes.NONE, Bytes::max);
    }

    private static Bytes asStored(TensorHeader header) {
        return new Bytes(header.bytes(), encoded(header) ? 0 : header.bytes(), 0);
    }

    /** Matrices of plain floats in the plan's dtype; integers as they are; what only the host can decode stays there. */
    private static Bytes rounded(TensorHeader header, Precision precision, MatrixLayout layout) {
        boolean floats = header.dtype().map(DType::floating).orElse(false);
        if (!floats || header.shape().rank() < 2 || precision == Precision.FP32) {
            return asStored(header);
        }
        DType operand = precision.operand();
        long bytes = header.shape().elements() * operand.bytes();
        boolean copied = header.dtype().get() != operand || layout == MatrixLayout.COLUMN;
        return new Bytes(header.bytes(), bytes, copied ? bytes : 0);
    }

    private static boolean encoded(TensorHeader header) {
        return header.dtype().isEmpty() && !header.encoding().startsWith("INT8");
    }
}
