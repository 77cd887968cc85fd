package io.kinema.engine;

import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Writes a clip's latents as a safetensors file, under the names that the reference pipeline gives them. */
final class LatentsFile {
    private LatentsFile() {
    }

    static void write(Clip clip, Path file) {
        Latents latents = clip.latents();
        Map<String, String> metadata = Map.of("schema", "kinema.latents/1", "seed", Long.toString(clip.record().output().seed()),
                "model_sha256", clip.record().model().sha256());
        try (MemoryTensors tensors = MemoryTensors.builder("latents")
                .floats("latents", latents.video(), latents.videoShape())
                .floats("audio_latents", latents.audio(), latents.audioShape()).build()) {
            SafetensorsWriter.write(file, List.of(tensors.get("latents"), tensors.get("audio_latents")), metadata);
        }
    }
}
