package io.kinema.cli;

import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Provenance;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that say where results go. */
final class OutputOptions {
    @Option(names = "--output", paramLabel = "FILE.mp4", description = "The clip to write.")
    private Optional<Path> output = Optional.empty();

    @Option(names = "--wav", paramLabel = "FILE.wav", description = "Write the sound as a file of its own too.")
    private Optional<Path> wav = Optional.empty();

    @Option(names = "--frames-dir", paramLabel = "DIR", description = "Write every frame as PNG too; the folder is made, and frames of an earlier clip in it are replaced, all of them.")
    private Optional<Path> framesDir = Optional.empty();

    @Option(names = "--save-latents", paramLabel = "FILE", description = "Write the final latents as safetensors too.")
    private Optional<Path> latents = Optional.empty();

    @Option(names = "--no-provenance", description = "Leave seed, model and request out of the MP4 file.")
    private boolean noProvenance;

    /** Whether there is a file to write. */
    boolean named() {
        return output.isPresent();
    }

    /**
     * The files of every output, checked: they can be written, and are neither one another nor what the request reads.
     *
     * @throws java.util.NoSuchElementException when there is no {@link #named} file
     */
    OutputFiles files(GenerateRequest request, EngineOptions engine) {
        OutputFiles files = OutputFiles.at(output.orElseThrow(), wav, framesDir, latents, request.outputs());
        OutputConflicts.refuse(files.each(), request, engine);
        return files;
    }

    Provenance provenance() {
        return noProvenance ? Provenance.LEFT_OUT : Provenance.WRITTEN;
    }
}
