package io.kinema.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.engine.CancelledException;
import io.kinema.engine.Clip;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.Progress;
import io.kinema.engine.Stage;
import io.kinema.media.Media;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema generate}: from a prompt to an MP4 with sound and its run record. */
@Command(name = "generate", sortOptions = false, customSynopsis = "kinema generate PROMPT --output FILE.mp4 [OPTION...]",
        description = "Makes a clip with sound. Its run record is written beside it, as FILE.json.",
        footer = {"", "Existing files of these names are replaced when the new ones are whole."})
final class GenerateCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "PROMPT", description = "What to see and hear.")
    private String prompt;

    @Option(names = "--output", required = true, paramLabel = "FILE.mp4", description = "The clip to write.")
    private Path output;

    @Option(names = "--wav", paramLabel = "FILE.wav", description = "Write the sound as a file of its own too.")
    private Optional<Path> wav = Optional.empty();

    @Option(names = "--frames-dir", paramLabel = "DIR", description = "Write every frame as PNG too; the folder is made.")
    private Optional<Path> framesDir = Optional.empty();

    @Option(names = "--save-latents", paramLabel = "FILE", description = "Write the final latents as safetensors too.")
    private Optional<Path> latents = Optional.empty();

    @Option(names = "--quiet", description = "Print errors only.")
    private boolean quiet;

    @Option(names = "--json", description = "Print the run record on standard output.")
    private boolean json;

    @Mixin
    private RequestOptions request;

    @Mixin
    private ExecutionOptions execution;

    GenerateCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        OutputFiles files = OutputFiles.at(output, wav, framesDir, latents);
        GenerateRequest wanted = request.request(prompt);
        Media.preload();
        try (Interruption interruption = Interruption.watch();
                ProgressPrinter progress = ProgressPrinter.start(terminal, quiet)) {
            try {
                progress.progress(new Progress.StageStarted(Stage.LOADING));
                Clip clip = generate(wanted, progress, interruption);
                files.write(clip);
                progress.note("wrote " + describe(clip) + " to " + files.clip());
                if (json) {
                    terminal.print(JsonNodeFactory.instance.objectNode().put("file", files.clip().toString())
                            .set("record", clip.record().toJson()).toPrettyString());
                }
                return ExitCode.DONE;
            } catch (CancelledException cancelled) {
                progress.note(cancelled.getMessage() + "; nothing was written");
                return ExitCode.INTERRUPTED;
            }
        }
    }

    private Clip generate(GenerateRequest wanted, ProgressPrinter progress, Interruption interruption) {
        try (H3Engine engine = H3Engine.open(execution.engine())) {
            return engine.generate(wanted, progress, interruption.cancellation());
        }
    }

    private static String describe(Clip clip) {
        return String.format(Locale.ROOT, "%d frames of %dx%d, %.3f s with stereo sound", clip.frameCount(), clip.width(),
                clip.height(), clip.record().request().seconds());
    }
}
