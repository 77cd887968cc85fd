package io.kinema.weights;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.stream.Stream;

/**
 * Owns the memory maps of one network's weights until it is closed: a single safetensors file, a folder with one, or a
 * folder with a {@code *.safetensors.index.json} and its shards. Closing twice is harmless.
 */
public final class Checkpoint implements TensorSource {
    private static final String WEIGHTS = ".safetensors";
    private static final String INDEX = ".safetensors.index.json";

    private final Path origin;
    private final List<SafetensorsFile> files;
    private final SequencedMap<String, SafetensorsFile> owners;

    private Checkpoint(Path origin, List<SafetensorsFile> files, SequencedMap<String, SafetensorsFile> owners) {
        this.origin = origin;
        this.files = files;
        this.owners = owners;
    }

    /**
     * @param folderOrFile a .safetensors file, an index, or a folder that holds one index with its shards, or exactly one file
     * @throws BadWeightsException naming the file and, where there is one, the tensor
     */
    public static Checkpoint open(Path folderOrFile) {
        if (Files.isDirectory(folderOrFile)) {
            return openFolder(folderOrFile);
        }
        return folderOrFile.toString().endsWith(INDEX) ? sharded(folderOrFile, ShardIndex.read(folderOrFile)) : single(folderOrFile, folderOrFile);
    }

    /** The files that are mapped, in the order they were opened. */
    public List<Path> files() {
        return files.stream().map(f -> Path.of(f.origin())).toList();
    }

    /** The {@code __metadata__} strings of all files; where two files give one key, the first file's. */
    public Map<String, String> metadata() {
        Map<String, String> all = new HashMap<>();
        files.forEach(f -> f.metadata().forEach(all::putIfAbsent));
        return Map.copyOf(all);
    }

    @Override
    public SequencedSet<String> names() {
        return Collections.unmodifiableSequencedSet(new LinkedHashSet<>(owners.keySet()));
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return Optional.ofNullable(owners.get(name)).flatMap(f -> f.find(name));
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> ClosestNames.missing(origin(), name, owners.keySet()));
    }

    @Override
    public String origin() {
        return origin.toString();
    }

    @Override
    public void close() {
        files.forEach(SafetensorsFile::close);
    }

    private static Checkpoint openFolder(Path folder) {
        List<Path> listed = list(folder);
        refuseUnfinished(listed);
        List<Path> indexes = ending(listed, INDEX);
        List<Path> weights = ending(listed, WEIGHTS);
        if (indexes.size() == 1) {
            return sharded(folder, ShardIndex.read(indexes.getFirst()));
        }
        if (indexes.isEmpty() && weights.size() == 1) {
            return single(folder, weights.getFirst());
        }
        throw new BadWeightsException(folder + ": got " + indexes.size() + " index files and " + weights.size()
                + " .safetensors files, expected one *.safetensors.index.json with its shards or exactly one .safetensors file"
                + (weights.isEmpty() && indexes.isEmpty() ? "; this is not a folder of weights" : "; name the file to use"));
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (IOException e) {
            throw new BadWeightsException(folder + ": cannot be listed (" + e.getMessage() + "); check its permissions", e);
        }
    }

    private static List<Path> ending(List<Path> paths, String suffix) {
        return paths.stream().filter(p -> p.getFileName().toString().endsWith(suffix)).toList();
    }

    /** A finished file may have an old, abandoned download beside it; one without the finished file is a hole in the model. */
    private static void refuseUnfinished(List<Path> listed) {
        for (Path part : ending(listed, WEIGHTS + Unfinished.SUFFIX)) {
            String name = part.getFileName().toString();
            if (!listed.contains(part.resolveSibling(name.substring(0, name.length() - Unfinished.SUFFIX.length())))) {
                throw Unfinished.refuse(part);
            }
        }
    }

    private static Checkpoint single(Path origin, Path file) {
        SafetensorsFile opened = SafetensorsFile.open(file);
        SequencedMap<String, SafetensorsFile> owners = new LinkedHashMap<>();
        opened.names().forEach(n -> owners.put(n, opened));
        return new Checkpoint(origin, List.of(opened), owners);
    }

    private static Checkpoint sharded(Path origin, ShardIndex index) {
        SequencedMap<Path, SafetensorsFile> opened = new LinkedHashMap<>();
        try {
            for (Path shard : new LinkedHashSet<>(index.shards().values())) {
                opened.put(shard, shard(index, shard));
            }
            return new Checkpoint(origin, new ArrayList<>(opened.values()), owners(index, opened));
        } catch (RuntimeException e) {
            opened.values().forEach(SafetensorsFile::close);
            throw e;
        }
    }

    private static SafetensorsFile shard(ShardIndex index, Path shard) {
        if (Files.notExists(shard) && Files.notExists(Unfinished.of(shard))) {
            throw new BadWeightsException(index.file() + ": shard " + shard.getFileName() + " is missing, expected it at " + shard + "; download it");
        }
        if (Files.exists(shard)) {
            index.requireInside(shard);
        }
        return SafetensorsFile.open(shard);
    }

    private static SequencedMap<String, SafetensorsFile> owners(ShardIndex index, SequencedMap<Path, SafetensorsFile> opened) {
        SequencedMap<String, SafetensorsFile> found = new LinkedHashMap<>();
        for (SafetensorsFile file : opened.values()) {
            for (String name : file.names()) {
                SafetensorsFile other = found.putIfAbsent(name, file);
                if (other != null) {
                    throw new BadWeightsException(file.origin() + ": tensor " + name + " is also in " + other.origin()
                            + ", expected it in one shard; the shards are of different downloads");
                }
            }
        }
        SequencedMap<String, SafetensorsFile> owners = new LinkedHashMap<>();
        index.shards().forEach((name, path) -> {
            SafetensorsFile file = opened.get(path);
            if (found.get(name) != file) {
                throw new BadWeightsException(file.origin() + ": tensor " + name + " is not in this shard, but "
                        + index.file().getFileName() + " says so; index and shards are of different downloads");
            }
            owners.put(name, file);
        });
        return owners;
    }
}
