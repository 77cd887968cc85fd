package io.kinema.weights;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * A {@code *.safetensors.index.json}: which shard holds which tensor.
 *
 * @param file   the index
 * @param shards tensor name to the shard's path, checked to lie inside the index's folder, in the order of the index
 */
record ShardIndex(Path file, SequencedMap<String, Path> shards) {
    private static final JsonFactory JSON = new JsonFactoryBuilder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(32).maxNumberLength(64).build())
            .build();

    /** @throws BadWeightsException when the index is unreadable, has no weight_map, or names a file outside its folder */
    static ShardIndex read(Path file) {
        try {
            long size = Files.size(PlainFile.require(file));
            if (size > SafetensorsHeader.LARGEST) {
                throw new BadWeightsException(file + ": got an index of " + size + " bytes, expected at most " + SafetensorsHeader.LARGEST);
            }
            try (InputStream in = Files.newInputStream(file); JsonParser p = JSON.createParser(in)) {
                return new ShardIndex(file, weightMap(file, p));
            }
        } catch (JsonProcessingException e) {
            throw new BadWeightsException(file + ": the index is not valid JSON (" + e.getOriginalMessage() + "); download it again", e);
        } catch (IOException e) {
            throw new BadWeightsException(file + ": cannot be read (" + e.getMessage() + "); check the path and its permissions", e);
        }
    }

    private static SequencedMap<String, Path> weightMap(Path file, JsonParser p) throws IOException {
        if (p.nextToken() != JsonToken.START_OBJECT) {
            throw new BadWeightsException(file + ": the index is not a JSON object; download it again");
        }
        SequencedMap<String, Path> shards = new LinkedHashMap<>();
        boolean found = false;
        while (p.nextToken() != JsonToken.END_OBJECT) {
            boolean map = p.currentName().equals("weight_map");
            JsonToken value = p.nextToken();
            if (!map) {
                p.skipChildren();
            } else if (found || value != JsonToken.START_OBJECT) {
                throw new BadWeightsException(file + ": expected one weight_map, an object of tensor name to shard file");
            } else {
                found = true;
                readMap(file, p, shards);
            }
        }
        if (!found) {
            throw new BadWeightsException(file + ": the index has no weight_map; download it again");
        }
        return shards;
    }

    private static void readMap(Path file, JsonParser p, SequencedMap<String, Path> shards) throws IOException {
        while (p.nextToken() != JsonToken.END_OBJECT) {
            String tensor = p.currentName();
            if (p.nextToken() != JsonToken.VALUE_STRING) {
                throw new BadWeightsException(file + ": tensor " + tensor + ": got " + p.getText() + ", expected the name of a shard file");
            }
            if (shards.put(tensor, inside(file, tensor, p.getText())) != null) {
                throw new BadWeightsException(file + ": tensor " + tensor + ": the name appears twice in the index, expected once");
            }
        }
    }

    /** Refuses names that leave the folder by their spelling; links are checked by {@link #requireInside}. */
    private static Path inside(Path index, String tensor, String name) {
        try {
            Path path = Path.of(name);
            boolean leaves = path.isAbsolute() || name.contains("\\") || !name.endsWith(".safetensors");
            for (Path part : path) {
                leaves |= part.toString().equals("..");
            }
            if (!leaves) {
                return index.resolveSibling(path);
            }
        } catch (InvalidPathException e) {
            // A name the file system cannot hold is refused like one that leaves the folder.
        }
        throw new BadWeightsException(index + ": tensor " + tensor + ": got shard name " + name
                + ", expected a .safetensors file inside the folder of the index; do not use this download");
    }

    /**
     * Refuses a shard that a symbolic link moves out of the folder. Hub caches keep a snapshot's files as links into one
     * folder of blobs, the index among them: a shard may also lie beside the file that the index really is.
     */
    void requireInside(Path shard) {
        try {
            Path real = shard.toRealPath();
            Path folder = folder().toRealPath();
            Path beside = file.toRealPath().getParent();
            if (!real.startsWith(folder) && !beside.equals(real.getParent())) {
                throw new BadWeightsException(file + ": shard " + shard.getFileName() + " links to " + real
                        + ", expected a file inside " + folder + "; copy it there");
            }
        } catch (IOException e) {
            throw new BadWeightsException(shard + ": cannot be resolved (" + e.getMessage() + "); check the link", e);
        }
    }

    Path folder() {
        Path parent = file.getParent();
        return parent == null ? Path.of("") : parent;
    }
}
