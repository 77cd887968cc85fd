package io.kinema.model;

import io.kinema.compute.Rotation;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Predicate;

/** Copies of checkpoints in which some matrices are INT8, with the tensors beside them that published files have. */
public final class QuantizedTensors {
    private QuantizedTensors() {
    }

    /**
     * @param wanted   names of the matrices to quantise
     * @param rotation of their columns before that
     */
    public static MemoryTensors of(TensorSource source, Predicate<String> wanted, Optional<Rotation> rotation) {
        MemoryTensors.Builder all = MemoryTensors.builder(source.origin() + " in INT8");
        for (String name : source.names()) {
            StoredTensor stored = source.get(name);
            if (wanted.test(name)) {
                quantize(all, stored, rotation);
            } else {
                all.put(name, stored.dtype(), stored.data(), stored.shape().toArray());
            }
        }
        return all.build();
    }

    /** The matrices of attention and feed-forward in blocks; token refiner blocks stay floats. */
    public static boolean blockMatrix(String name) {
        return name.startsWith("transformer_blocks.") && name.endsWith(".weight") && (name.contains(".attn.to_") || name.contains(".ff."));
    }

    private static void quantize(MemoryTensors.Builder all, StoredTensor stored, Optional<Rotation> rotation) {
        int n = stored.shape().size(0);
        int k = stored.shape().size(1);
        float[] w = FloatConversion.toFloats(stored);
        float[] turned = rotation.map(r -> rotated(w, r)).orElse(w);
        byte[] values = new byte[n * k];
        float[] scales = new float[n];
        for (int i = 0; i < n; i++) {
            float largest = 0;
            for (int j = 0; j < k; j++) {
                largest = Math.max(largest, Math.abs(turned[i * k + j]));
            }
            scales[i] = largest == 0 ? 1 : largest / 127;
            for (int j = 0; j < k; j++) {
                values[i * k + j] = (byte) Math.rint(turned[i * k + j] / scales[i]);
            }
        }
        String module = stored.name().substring(0, stored.name().length() - ".weight".length());
        String marker = "{\"format\": \"int8_tensorwise\", \"convrot\": " + rotation.map(r -> "true, \"convrot_groupsize\": " + r.group()).orElse("false") + "}";
        byte[] json = marker.getBytes(StandardCharsets.UTF_8);
        all.put(stored.name(), DType.I8, MemorySegment.ofArray(values), n, k);
        all.floats(module + ".weight_scale", scales, n, 1);
        all.put(module + ".comfy_quant", DType.U8, MemorySegment.ofArray(json), json.length);
    }

    private static float[] rotated(float[] rows, Rotation rotation) {
        float[] out = new float[rows.length];
        for (int i = 0; i < rows.length; i++) {
            int column = i % rotation.group();
            double sum = 0;
            for (int j = 0; j < rotation.group(); j++) {
                sum += (double) rows[i - column + j] * rotation.entry(j, column);
            }
            out[i] = (float) sum;
        }
        return out;
    }
}
