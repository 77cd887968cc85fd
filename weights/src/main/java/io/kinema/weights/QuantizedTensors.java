package io.kinema.weights;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * Owns a checkpoint with INT8 or FP8 matrices, until it is closed, and presents each with its scales and marker as one tensor of
 * its weight's name ({@link MatrixCompanions}). Opening refuses, by name, what does not belong together and encodings that are not
 * understood; it reads markers and scales, not codes. {@link #get} decodes a coded tensor whole and keeps it; {@link #matrix}
 * does not. Closing twice is harmless. Safe for use by several threads.
 */
public final class QuantizedTensors implements TensorSource {
    /** Every encoding that can be read, for messages and help. */
    public static final String UNDERSTOOD = "F32, F16, BF16, INT8 with row scales (plain or ConvRot), FP8 (E4M3, E5M2; plain or scaled by tensor or row), "
            + "GGUF with F32, F16, BF16, Q4_0, Q5_0, Q8_0, Q4_K, Q5_K and Q6_K";

    /** A tensor of older FP8 files that only says that there are scales. */
    private static final String SCALED_FLOAT8 = "scaled_fp8";
    private static final String LAYERS = "_quantization_metadata";
    private static final SequencedMap<String, String> OTHERS = new LinkedHashMap<>();

    static {
        OTHERS.put(".weight_scale_2", "NVFP4");
        OTHERS.put(".weight_codebook", "W4A8 ConvRot");
        OTHERS.put(".weight_s_rel", "W4A8 ConvRot");
        OTHERS.put(".weight_s_channel", "W4A8 ConvRot");
        OTHERS.put(".weight_scale_inv", "block-scaled FP8");
        OTHERS.put(".absmax", "bitsandbytes");
        OTHERS.put(".quant_map", "bitsandbytes");
        OTHERS.put(".qweight", "GPTQ or AWQ");
        OTHERS.put(".qzeros", "GPTQ or AWQ");
    }

    private final Checkpoint stored;
    private final SequencedMap<String, Boolean> coded;
    private final DecodedTensors decoded = new DecodedTensors();
    private volatile boolean closed;

    private QuantizedTensors(Checkpoint stored, SequencedMap<String, Boolean> coded) {
        this.stored = stored;
        this.coded = coded;
    }

    /**
     * @param checkpoint closed with the result, or when this fails
     * @return the checkpoint itself when none of its tensors is coded
     * @throws BadWeightsException naming the tensor
     */
    public static TensorSource over(Checkpoint checkpoint) {
        try {
            requireUnderstood(checkpoint);
            requireLayers(checkpoint);
            SequencedMap<String, Boolean> coded = new LinkedHashMap<>();
            for (String name : checkpoint.names()) {
                if (!companion(checkpoint, name)) {
                    coded.put(name, isCoded(checkpoint.get(name)));
                }
            }
            if (!coded.containsValue(true) && coded.size() == checkpoint.names().size()) {
                return checkpoint;
            }
            QuantizedTensors view = new QuantizedTensors(checkpoint, coded);
            coded.forEach((name, is) -> {
                if (is) {
                    view.check(name);
                }
            });
            return view;
        } catch (RuntimeException e) {
            checkpoint.close();
            throw e;
        }
    }

    /** The strings in the headers of its files. */
    public Map<String, String> metadata() {
        return stored.metadata();
    }

    @Override
    public SequencedSet<String> names() {
        return Collections.unmodifiableSequencedSet(new LinkedHashSet<>(coded.sequencedKeySet()));
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        return isCoded(name) ? Optional.of(TensorHeader.of(stored.matrix(name))) : plain(name).map(TensorHeader::of);
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        requireOpen(name);
        return isCoded(name) ? Optional.of(decoded.of(name, stored::matrix, stored.shape(name))) : plain(name);
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> missing(name));
    }

    @Override
    public Shape shape(String name) {
        return header(name).orElseThrow(() -> missing(name)).shape();
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        requireOpen(name);
        if (!coded.containsKey(name)) {
            throw missing(name);
        }
        return stored.matrix(name, from, to);
    }

    @Override
    public String origin() {
        return stored.origin();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            decoded.close();
            stored.close();
        }
    }

    private boolean isCoded(String name) {
        return coded.getOrDefault(name, false);
    }

    private Optional<StoredTensor> plain(String name) {
        return coded.containsKey(name) ? stored.find(name) : Optional.empty();
    }

    private void requireOpen(String name) {
        if (closed) {
            throw new IllegalStateException(origin() + " is closed; tensor " + name + " cannot be read any more");
        }
    }

    private BadWeightsException missing(String name) {
        return ClosestNames.missing(origin(), name, coded.keySet());
    }

    /** Its companions must be there and of the right form, and every scale a finite number above 0. */
    private void check(String name) {
        Optional<StoredTensor> scales = switch (stored.matrix(name)) {
            case Int8Matrix int8 -> Optional.of(int8.scales());
            case Float8Matrix float8 -> requireScaled(float8);
            case FloatMatrix plain -> Optional.empty();
            case EncodedMatrix other -> Optional.empty();
        };
        scales.ifPresent(s -> {
            float[] values = FloatConversion.toFloats(s);
            for (int i = 0; i < values.length; i++) {
                if (!(values[i] > 0 && values[i] < Float.POSITIVE_INFINITY)) {
                    throw new BadWeightsException(s.file() + ": tensor " + s.name() + " element " + i + " is " + values[i]
                            + ", expected a finite scale above 0; the file is damaged, fetch it again");
                }
            }
        });
    }

    private Optional<StoredTensor> requireScaled(Float8Matrix matrix) {
        if (matrix.scales().isEmpty() && stored.find(SCALED_FLOAT8).isPresent()) {
            throw new BadWeightsException(matrix.file() + ": tensor " + matrix.name() + " is FP8 in a file of scaled FP8 (it has " + SCALED_FLOAT8
                    + "), and its scale is missing; the file is incomplete, fetch it again");
        }
        return matrix.scales();
    }

    private static boolean companion(Checkpoint checkpoint, String name) {
        if (name.equals(SCALED_FLOAT8)) {
            return true;
        }
        Optional<String> weight = MatrixCompanions.weightOf(name);
        if (weight.isPresent() && checkpoint.find(weight.get()).isEmpty()) {
            throw new BadWeightsException(checkpoint.get(name).file() + ": tensor " + name + " belongs to " + weight.get()
                    + ", which is missing; the file is incomplete, fetch it again");
        }
        return weight.isPresent();
    }

    private static boolean isCoded(StoredTensor tensor) {
        return tensor.shape().rank() == 2 && switch (tensor.dtype()) {
            case I8, F8_E4M3, F8_E5M2 -> true;
            default -> false;
        };
    }

    private static void requireUnderstood(Checkpoint checkpoint) {
        for (String name : checkpoint.names()) {
            OTHERS.forEach((suffix, format) -> {
                if (name.endsWith(suffix) || name.contains(suffix + ".")) {
                    throw new BadWeightsException(checkpoint.get(name).file() + ": tensor " + name + " is of the encoding " + format
                            + ", which cannot be read; understood are " + UNDERSTOOD);
                }
            });
        }
    }

    /** Newer files list the formats of their layers in the header too. */
    private static void requireLayers(Checkpoint checkpoint) {
        String text = checkpoint.metadata().get(LAYERS);
        if (text == null) {
            return;
        }
        try {
            JsonNode layers = new ObjectMapper().readTree(text).path("layers");
            for (Map.Entry<String, JsonNode> layer : layers.properties()) {
                String format = layer.getValue().path("format").asText();
                if (!QuantizationMarker.UNDERSTOOD.contains(format)) {
                    throw new BadWeightsException(checkpoint.origin() + ": layer " + layer.getKey() + " has the format '" + format + "' in " + LAYERS
                            + ", which cannot be read; understood are " + UNDERSTOOD);
                }
            }
        } catch (JsonProcessingException e) {
            throw new BadWeightsException(checkpoint.origin() + ": " + LAYERS + " in the header is not JSON (" + e.getOriginalMessage() + "); fetch the file again", e);
        }
    }
}
