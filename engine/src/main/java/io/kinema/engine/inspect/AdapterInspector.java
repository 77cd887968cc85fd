package io.kinema.engine.inspect;

import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.Alpha;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.weights.SafetensorsFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/** Reads an adapter as a request would, and says what it is. */
public final class AdapterInspector {
    private AdapterInspector() {
    }

    /**
     * Everything but the tensors: {@link Adapter#pairs} and {@link Adapter#edits} of the result must not be read, the file is
     * closed again.
     *
     * @param model what it must fit; when empty, the released H3 for a file of its width, else the bundled model
     * @throws io.kinema.weights.BadWeightsException when it is not whole or does not fit
     */
    public static Adapter inspect(Path file, Optional<Path> model) {
        DitConfig config = model.map(AdapterInspector::config).orElseGet(() -> guess(file));
        try (AdapterFile adapter = AdapterFile.open(file, DitTensors.forAdapters(config), Optional.of(Alpha.RANK))) {
            return adapter.adapter();
        }
    }

    private static DitConfig guess(Path file) {
        try (SafetensorsFile source = SafetensorsFile.open(file)) {
            boolean released = source.names().stream().map(n -> source.get(n).shape().toArray())
                    .anyMatch(dims -> Arrays.stream(dims).anyMatch(d -> d == DitConfig.RELEASED.hidden()));
            return released ? DitConfig.RELEASED : config(BundledModel.folder());
        }
    }

    private static DitConfig config(Path model) {
        return DitConfig.read(ModelFolder.open(model).config(Component.TRANSFORMER));
    }
}
