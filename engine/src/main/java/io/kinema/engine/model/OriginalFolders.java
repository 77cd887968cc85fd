package io.kinema.engine.model;

import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Makes one model of one or two partitions: each brings its transformer, the rest they share. */
final class OriginalFolders {
    private OriginalFolders() {
    }

    static ModelFolder model(Path root, List<OriginalPartition> partitions) {
        Map<Component, Path> folders = new EnumMap<>(Component.class);
        partitions.forEach(partition -> partition.components().forEach(folders::putIfAbsent));
        for (Component needed : new Component[] {Component.TEXT_ENCODER, Component.VIDEO_VAE, Component.AUDIO_VAE, Component.TOKENIZER}) {
            if (!folders.containsKey(needed)) {
                throw new BadWeightsException("model " + root + ": the index lists no " + needed.key() + ", expected all components of an H3 model");
            }
        }
        if (!folders.containsKey(Component.TRANSFORMER) && !folders.containsKey(Component.TRANSFORMER_REF)) {
            throw new BadWeightsException("model " + root + ": the index lists no transformer, expected all components of an H3 model");
        }
        OriginalPartition first = partitions.getFirst();
        return new ModelFolder(root, WeightLayout.ORIGINAL, Map.copyOf(folders),
                ModelGeometry.read(first.index(), folders, first.videoShift(), first.audioShift()));
    }
}
