package io.kinema.engine.inspect;

import io.kinema.engine.inspect.ComponentReport.Fit;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.TransformerForm;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.GgufFile;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import io.kinema.weights.WeightFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Compares a transformer file that has no config beside it with the released H3, or with the bundled model where it has that width. */
final class LooseTransformer {
    private static final List<String> INPUTS = List.of("video_patch_proj.weight", "proj_in.weight");

    private LooseTransformer() {
    }

    /** How it compares; empty when its names are not those of a transformer. */
    static Optional<Fit> fit(Path file) {
        try (TensorSource stored = Network.unprefixed(WeightFiles.open(file))) {
            Optional<TensorHeader> input = INPUTS.stream().map(stored::header).flatMap(Optional::stream).findFirst();
            return input.filter(i -> stored.header("audio_" + i.name()).isPresent() || stored.header("audio_patch_proj.weight").isPresent())
                    .map(i -> fit(stored, i, GgufFile.recognises(file)));
        }
    }

    private static Fit fit(TensorSource stored, TensorHeader input, boolean repack) {
        try {
            TransformerForm form = TransformerForm.of(stored, repack, Optional.empty(), Optional.empty());
            DitConfig config = (input.shape().dim(0) == DitConfig.RELEASED.hidden() ? DitConfig.RELEASED : bundled()).with(form.curve());
            return new Fit(form.layout(), Network.transformer(form.layout(), config).misfit(stored));
        } catch (BadWeightsException e) {
            return new Fit(WeightLayout.ORIGINAL, Optional.of(e.getMessage()));
        }
    }

    private static DitConfig bundled() {
        return DitConfig.read(ModelFolder.open(BundledModel.folder()).config(Component.TRANSFORMER));
    }
}
