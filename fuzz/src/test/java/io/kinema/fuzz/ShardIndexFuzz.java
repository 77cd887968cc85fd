package io.kinema.fuzz;

import io.kinema.weights.Checkpoint;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A shard index beside one good shard: it opens, or it is refused; no name in it leaves its folder. */
public final class ShardIndexFuzz {
    private static final Scratch SCRATCH = new Scratch("index");
    private static final String HEADER = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";

    static {
        byte[] json = HEADER.getBytes(StandardCharsets.UTF_8);
        SCRATCH.write("s.safetensors", ByteBuffer.allocate(16 + json.length).order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).put(json).array());
    }

    private ShardIndexFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Path index = SCRATCH.write("model.safetensors.index.json", data);
        Refusals.allow(() -> {
            try (Checkpoint opened = Checkpoint.open(index)) {
                for (Path file : opened.files()) {
                    if (!file.toAbsolutePath().normalize().startsWith(SCRATCH.folder())) {
                        throw new AssertionError("opened " + file);
                    }
                }
                opened.names().forEach(opened::get);
            }
        });
    }
}
