package io.kinema.engine.model;

import io.kinema.engine.Geometries;
import io.kinema.model.dit.DitConfig;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.SafetensorsWriter.Spec;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A transformer of the diffusers layout under MiniMax's names with q, k and v stacked, to be written in the formats that other
 * programs write. Names, row orders and encoders are written here a second time, by hand and in plain loops.
 */
public final class TransformerFile {
    private static final int ALIGNMENT = 32;

    private final SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();

    /** Values, widened; the dtype they had. */
    public record Tensor(DType dtype, long[] dims, float[] values) {
        int columns() {
            return (int) dims[dims.length - 1];
        }
    }

    /** Writes the bundled transformer in every format into a folder, to be generated from by hand. */
    public static void main(String[] args) throws IOException {
        NetworkFolder own = ModelFolder.open(Geometries.NANO).network(Component.TRANSFORMER);
        TransformerFile file = of(own.folder(), DitConfig.read(own.config()).ropeFrequencies());
        Path to = Files.createDirectories(Path.of(args[0]));
        file.plain(to.resolve("comfyui-bf16.safetensors"), "");
        file.plain(to.resolve("comfyui-prefixed.safetensors"), "model.diffusion_model.");
        file.float8(to.resolve("fp8-tensor.safetensors"), false);
        file.float8(to.resolve("fp8-row.safetensors"), true);
        file.gguf(to.resolve("bf16.gguf"), false, name -> false);
        file.gguf(to.resolve("q8_0.gguf"), false, TransformerFile::matrixOfABlock);
        file.gguf(to.resolve("q4_k.gguf"), true, TransformerFile::matrixOfABlock);
    }

    /** @param folder a transformer in the diffusers layout */
    public static TransformerFile of(Path folder, int frequencies) {
        TransformerFile file = new TransformerFile();
        try (Checkpoint weights = Checkpoint.open(folder)) {
            for (String name : weights.names()) {
                StoredTensor t = weights.get(name);
                String theirs = OriginalCopy.transformerName(name);
                if (name.contains(".to_q.")) {
                    file.put(theirs.replace(".to_q.", ".qkv_proj."), stacked(List.of(t, weights.get(name.replace(".to_q.", ".to_k.")), weights.get(name.replace(".to_q.", ".to_v.")))));
                } else if (name.contains(".net.0.proj.")) {
                    long half = t.shape().dim(0) / 2;
                    file.put(theirs, stacked(List.of(t.rows(half, 2 * half), t.rows(0, half))));
                } else if (!name.contains(".to_k.") && !name.contains(".to_v.")) {
                    file.put(theirs, stacked(List.of(t)));
                }
            }
        }
        float[] frequency = new float[frequencies];
        for (int i = 0; i < frequencies; i++) {
            frequency[i] = (float) Math.pow(10000, -(double) i / frequencies);
        }
        file.put("rope.inv_freq", new Tensor(DType.F32, new long[] {frequencies}, frequency));
        return file;
    }

    public SequencedMap<String, Tensor> tensors() {
        return tensors;
    }

    public TransformerFile put(String name, Tensor tensor) {
        tensors.put(name, tensor);
        return this;
    }

    /** In their own dtypes. */
    public Path plain(Path to, String prefix) {
        SequencedMap<Spec, MemorySegment> all = new LinkedHashMap<>();
        tensors.forEach((name, t) -> all.put(new Spec(prefix + name, t.dtype(), Shape.of(t.dims())), rounded(t.values(), t.dtype())));
        return write(to, all);
    }

    /** The block's matrices as FP8 with one scale for all ({@code scale_weight}, as older files call it) or one for each row. */
    public Path float8(Path to, boolean perRow) {
        SequencedMap<Spec, MemorySegment> all = new LinkedHashMap<>();
        tensors.forEach((name, t) -> {
            if (!matrixOfABlock(name)) {
                all.put(new Spec(name, t.dtype(), Shape.of(t.dims())), rounded(t.values(), t.dtype()));
                return;
            }
            String module = name.substring(0, name.length() - ".weight".length());
            int rows = (int) t.dims()[0];
            float[] scales = new float[perRow ? rows : 1];
            byte[] codes = new byte[t.values().length];
            for (int i = 0; i < codes.length; i++) {
                int at = perRow ? i / t.columns() : 0;
                scales[at] = Math.max(scales[at], Math.abs(t.values()[i]) / 448);
            }
            for (int i = 0; i < codes.length; i++) {
                codes[i] = nearestE4m3(t.values()[i] / scales[perRow ? i / t.columns() : 0]);
            }
            all.put(new Spec(name, DType.F8_E4M3, Shape.of(t.dims())), MemorySegment.ofArray(codes));
            all.put(new Spec(module + (perRow ? ".weight_scale" : ".scale_weight"), DType.F32, perRow ? Shape.of(rows, 1) : Shape.of()), rounded(scales, DType.F32));
            if (perRow) {
                byte[] marker = "{\"format\": \"float8_e4m3fn\"}".getBytes(StandardCharsets.UTF_8);
                all.put(new Spec(module + ".comfy_quant", DType.U8, Shape.of(marker.length)), MemorySegment.ofArray(marker));
            }
        });
        if (!perRow) {
            all.put(new Spec("scaled_fp8", DType.F8_E4M3, Shape.of(2)), MemorySegment.ofArray(new byte[2]));
        }
        return write(to, all);
    }

    /** GGUF: the matrices of {@code coded} as Q8_0 or Q4_K, the rest as F32, F16 or BF16. Rows that are no whole blocks are reshaped. */
    public Path gguf(Path to, boolean q4, Predicate<String> coded) throws IOException {
        ByteArrayOutputStream fields = new ByteArrayOutputStream();
        ByteArrayOutputStream infos = new ByteArrayOutputStream();
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        field(fields, "general.architecture", 8, text("minimax_h3"));
        int count = 1;
        int block = q4 ? 256 : 32;
        for (Map.Entry<String, Tensor> entry : tensors.entrySet()) {
            Tensor t = entry.getValue();
            boolean code = coded.test(entry.getKey()) && t.dims().length == 2 && t.values().length % block == 0;
            long[] dims = t.dims();
            if (code && t.columns() % block != 0) {
                dims = new long[] {t.values().length / block, block};
                field(fields, "comfy.gguf.orig_shape." + entry.getKey(), 9, bytes(12 + 4 * t.dims().length, b -> {
                    b.putInt(5).putLong(t.dims().length);
                    for (long d : t.dims()) {
                        b.putInt((int) d);
                    }
                }));
                count++;
            }
            while (data.size() % ALIGNMENT != 0) {
                data.write(0);
            }
            int type = code ? q4 ? 12 : 8 : t.dtype() == DType.BF16 ? 30 : 0;
            infos.writeBytes(text(entry.getKey()));
            long[] sizes = dims;
            long offset = data.size();
            infos.writeBytes(bytes(4 + 8 * dims.length + 12, b -> {
                b.putInt(sizes.length);
                for (int i = sizes.length - 1; i >= 0; i--) {
                    b.putLong(sizes[i]);
                }
                b.putInt(type).putLong(offset);
            }));
            data.writeBytes(code ? blocks(t.values(), q4) : rounded(t.values(), type == 30 ? DType.BF16 : DType.F32).toArray(ValueLayout.JAVA_BYTE));
        }
        int fieldCount = count;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(bytes(24, b -> b.putInt(0x46554747).putInt(3).putLong(tensors.size()).putLong(fieldCount)));
        out.writeBytes(fields.toByteArray());
        out.writeBytes(infos.toByteArray());
        while (out.size() % ALIGNMENT != 0) {
            out.write(0);
        }
        out.writeBytes(data.toByteArray());
        return Files.write(to, out.toByteArray());
    }

    /** True for the four matrices of a block that repacks code. */
    public static boolean matrixOfABlock(String name) {
        return name.startsWith("blocks.") && (name.contains("_proj.weight") || name.contains(".fc")) && !name.contains("adaln");
    }

    private static byte[] blocks(float[] values, boolean q4) {
        int block = q4 ? 256 : 32;
        ByteBuffer out = ByteBuffer.allocate(values.length / block * (q4 ? 144 : 34)).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < values.length; at += block) {
            if (q4) {
                q4(values, at, out);
            } else {
                q8(values, at, out);
            }
        }
        return out.array();
    }

    private static void q8(float[] values, int at, ByteBuffer out) {
        float largest = 0;
        for (int i = 0; i < 32; i++) {
            largest = Math.max(largest, Math.abs(values[at + i]));
        }
        short half = Float.floatToFloat16(largest / 127);
        float d = Float.float16ToFloat(half);
        out.putShort(half);
        for (int i = 0; i < 32; i++) {
            out.put((byte) Math.clamp(Math.round(d == 0 ? 0 : values[at + i] / d), -127, 127));
        }
    }

    /** Each run of 32 between its least and its greatest value, in 15 steps; steps and least values in 63 steps of the block's. */
    private static void q4(float[] values, int at, ByteBuffer out) {
        float[] step = new float[8];
        float[] least = new float[8];
        for (int run = 0; run < 8; run++) {
            float low = 0;
            float high = 0;
            for (int i = 0; i < 32; i++) {
                low = Math.min(low, values[at + run * 32 + i]);
                high = Math.max(high, values[at + run * 32 + i]);
            }
            step[run] = (high - low) / 15;
            least[run] = -low;
        }
        short d = Float.floatToFloat16(largest(step) / 63);
        short dmin = Float.floatToFloat16(largest(least) / 63);
        out.putShort(d).putShort(dmin);
        int[] s = new int[8];
        int[] m = new int[8];
        for (int run = 0; run < 8; run++) {
            s[run] = sixBits(step[run], Float.float16ToFloat(d));
            m[run] = sixBits(least[run], Float.float16ToFloat(dmin));
        }
        byte[] packed = new byte[12];
        for (int i = 0; i < 4; i++) {
            packed[i] = (byte) (s[i] | s[i + 4] >> 4 << 6);
            packed[i + 4] = (byte) (m[i] | m[i + 4] >> 4 << 6);
            packed[i + 8] = (byte) (s[i + 4] & 15 | (m[i + 4] & 15) << 4);
        }
        out.put(packed);
        for (int pair = 0; pair < 4; pair++) {
            for (int i = 0; i < 32; i++) {
                out.put((byte) (nibble(values[at + pair * 64 + i], d, dmin, s[2 * pair], m[2 * pair])
                        | nibble(values[at + pair * 64 + 32 + i], d, dmin, s[2 * pair + 1], m[2 * pair + 1]) << 4));
            }
        }
    }

    private static int nibble(float value, short d, short dmin, int s, int m) {
        float step = Float.float16ToFloat(d) * s;
        return step == 0 ? 0 : Math.clamp(Math.round((value + Float.float16ToFloat(dmin) * m) / step), 0, 15);
    }

    private static int sixBits(float value, float unit) {
        return unit == 0 ? 0 : Math.clamp(Math.round(value / unit), 0, 63);
    }

    private static float largest(float[] values) {
        float largest = 0;
        for (float v : values) {
            largest = Math.max(largest, v);
        }
        return largest;
    }

    private static byte nearestE4m3(float value) {
        int best = 0;
        for (int code = 0; code < 256; code++) {
            float v = FloatConversion.fromF8E4M3((byte) code);
            if (!Float.isNaN(v) && Math.abs(v - value) < Math.abs(FloatConversion.fromF8E4M3((byte) best) - value)) {
                best = code;
            }
        }
        return (byte) best;
    }

    private static Tensor stacked(List<StoredTensor> parts) {
        List<float[]> all = new ArrayList<>();
        parts.forEach(p -> all.add(FloatConversion.toFloats(p)));
        float[] values = new float[all.stream().mapToInt(v -> v.length).sum()];
        int at = 0;
        for (float[] part : all) {
            System.arraycopy(part, 0, values, at, part.length);
            at += part.length;
        }
        long[] dims = parts.getFirst().shape().toArray();
        dims[0] = parts.stream().mapToLong(p -> p.shape().dim(0)).sum();
        return new Tensor(parts.getFirst().dtype(), dims, values);
    }

    private static MemorySegment rounded(float[] values, DType dtype) {
        MemorySegment out = MemorySegment.ofArray(new byte[values.length * dtype.bytes()]);
        FloatConversion.convert(DType.F32, MemorySegment.ofArray(values), dtype, out, values.length);
        return out;
    }

    private static Path write(Path to, SequencedMap<Spec, MemorySegment> all) {
        try (SafetensorsWriter writer = SafetensorsWriter.create(to, all.sequencedKeySet(), Map.of())) {
            all.forEach((spec, data) -> writer.put(spec.name(), data));
            writer.commit();
        }
        return to;
    }

    private static void field(ByteArrayOutputStream fields, String key, int type, byte[] value) {
        fields.writeBytes(text(key));
        fields.writeBytes(bytes(4, b -> b.putInt(type)));
        fields.writeBytes(value);
    }

    private static byte[] text(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        return bytes(8 + utf8.length, b -> b.putLong(utf8.length).put(utf8));
    }

    private static byte[] bytes(int size, Consumer<ByteBuffer> fill) {
        ByteBuffer buffer = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        fill.accept(buffer);
        return buffer.array();
    }
}
