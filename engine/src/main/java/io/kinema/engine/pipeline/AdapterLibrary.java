package io.kinema.engine.pipeline;

import io.kinema.engine.AdapterUse;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.Alpha;
import io.kinema.model.adapter.TransformerTensors;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.dit.LoadedAdapter;
import io.kinema.model.dit.ScaledAdapter;
import io.kinema.model.dit.Transformer;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FileStamp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Owns the adapters in use, their files and their device copies, until it is closed; closing twice is harmless. The next
 * request's adapters replace the last one's, while the transformer stays. Safe for use by several threads.
 */
public final class AdapterLibrary implements AutoCloseable {
    private final Map<Key, Entry> entries = new HashMap<>();

    /** A file as it was when it was read, for one transformer. */
    private record Key(FileStamp file, Optional<Alpha> alpha, DitConfig transformer) {
    }

    private static final class Entry {
        private final AdapterFile file;
        private final Map<Transformer, LoadedAdapter> loaded = new HashMap<>();

        Entry(AdapterFile file) {
            this.file = file;
        }

        void close() {
            loaded.values().forEach(LoadedAdapter::close);
            file.close();
        }
    }

    /** The adapter, read once while it stays in use and its file does not change. */
    public synchronized Adapter read(AdapterUse use, DitConfig config) {
        return entry(use, config).file.adapter();
    }

    /** Puts these adapters in force on {@code dit}, and lets go of those that are not among them. */
    synchronized void use(Transformer dit, List<AdapterUse> uses) {
        List<ScaledAdapter> chosen = new ArrayList<>();
        for (AdapterUse use : uses) {
            Entry entry = entry(use, dit.config());
            if (use.scale() != 0) {
                chosen.add(new ScaledAdapter(entry.loaded.computeIfAbsent(dit, d -> d.load(entry.file.adapter())), use.scale()));
            }
        }
        dit.use(chosen);
        Set<Key> kept = uses.stream().map(u -> key(u, dit.config())).collect(Collectors.toSet());
        List<Key> idle = entries.keySet().stream().filter(k -> !kept.contains(k)).toList();
        idle.forEach(k -> entries.remove(k).close());
    }

    private Entry entry(AdapterUse use, DitConfig config) {
        return entries.computeIfAbsent(key(use, config), k -> {
            TransformerTensors tensors = DitTensors.forAdapters(config);
            return new Entry(AdapterFile.open(use.file(), tensors, use.alpha()));
        });
    }

    private static Key key(AdapterUse use, DitConfig config) {
        try {
            Path file = use.file();
            if (Files.isDirectory(file)) {
                throw new BadWeightsException("adapter " + file + ": got a folder, expected a .safetensors file; give the path of one");
            }
            if (!Files.isRegularFile(file)) {
                throw new BadWeightsException("adapter " + file + ": no such file, expected a .safetensors file; check the path");
            }
            return new Key(FileStamp.of(file), use.alpha(), config);
        } catch (IOException e) {
            throw new BadWeightsException("adapter " + use.file() + ": cannot be read (" + e.getMessage() + "); check the path and its permissions", e);
        }
    }

    @Override
    public synchronized void close() {
        entries.values().forEach(Entry::close);
        entries.clear();
    }
}
