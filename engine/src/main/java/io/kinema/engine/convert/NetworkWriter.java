package io.kinema.engine.convert;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.StoredLayout;
import io.kinema.model.layout.StoredLayout.Target;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.SafetensorsWriter.Spec;
import io.kinema.weights.TensorSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Writes one network's weights in a layout and dtype. Tensors that stay in order pass through in pieces; one that is put together
 * of several, or whose rows change places, is held whole while it is written.
 */
final class NetworkWriter {
    private static final Map<String, String> METADATA = Map.of("format", "pt");

    private final TensorSource source;
    private final TensorStream stream;
    private final JsonNode config;
    private final Optional<DType> dtype;
    private final StoredLayout layout;

    /**
     * @param source under the names that the network reads
     * @param config in the diffusers layout's terms
     * @param dtype  of what may be narrowed; empty to keep every tensor's own
     */
    NetworkWriter(TensorSource source, Network network, JsonNode config, WeightLayout target, Optional<DType> dtype) {
        this.source = source;
        this.stream = new TensorStream(source);
        this.config = config;
        this.dtype = dtype;
        this.layout = StoredLayout.of(network, target, config);
    }

    /** @return hex SHA-256 of the file, read back. @throws BadWeightsException when a tensor cannot be written so, naming it */
    String write(Path file) {
        List<Target> targets = layout.tensors().sequencedValues().stream().filter(this::present).toList();
        List<Spec> specs = targets.stream().map(t -> new Spec(t.name(), dtype(t), t.shape())).toList();
        try (SafetensorsWriter writer = SafetensorsWriter.create(file, specs, METADATA)) {
            targets.forEach(t -> write(writer, t));
            return writer.commitVerified();
        }
    }

    /** What nothing reads may be absent; what is made from the config never is. */
    private boolean present(Target target) {
        return target.parts().isEmpty() || target.names().stream().allMatch(n -> source.header(n).isPresent());
    }

    /** Writes one of the layout's tensors. */
    void write(SafetensorsWriter writer, Target target) {
        DType to = dtype(target);
        if (target.parts().isEmpty()) {
            writer.put(target.name(), MemorySegment.ofArray(bytes(StoredLayout.unread(target, config))));
        } else if (target.verbatim()) {
            stream.read(target.names().getFirst(), to, piece -> writer.append(target.name(), piece));
        } else {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment all = arena.allocate(target.shape().elements() * to.bytes(), 64);
                target.assemble(name -> whole(arena, name, to), all);
                writer.put(target.name(), all);
            }
        }
    }

    private MemorySegment whole(Arena arena, String name, DType to) {
        MemorySegment all = arena.allocate(stream.header(name).shape().elements() * to.bytes(), 64);
        long[] at = {0};
        stream.read(name, to, piece -> {
            all.asSlice(at[0], piece.byteSize()).copyFrom(piece);
            at[0] += piece.byteSize();
        });
        return all;
    }

    private DType dtype(Target target) {
        if (target.parts().isEmpty() || target.rule() == Rule.FP32) {
            return DType.F32;
        }
        if (dtype.isPresent()) {
            return dtype.get();
        }
        Set<Optional<DType>> own = target.names().stream().map(stream::dtype).collect(Collectors.toSet());
        if (own.contains(Optional.<DType>empty())) {
            throw new BadWeightsException(source.origin() + ": tensor " + target.names().getFirst() + " is coded ("
                    + stream.header(target.names().getFirst()).encoding() + "), expected plain floats to keep; say --dtype to decode it");
        }
        return own.size() == 1 ? own.iterator().next().get() : DType.F32;
    }

    private static byte[] bytes(float[] values) {
        ByteBuffer out = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.asFloatBuffer().put(values);
        return out.array();
    }
}
