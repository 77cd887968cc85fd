package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.CancelledException;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.Progress;
import io.kinema.engine.Stage;
import io.kinema.measure.qualify.RouteChoice;
import io.kinema.media.Media;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kinema generate}: from a prompt to an MP4 with sound and its run record. */
@Command(name = "generate", sortOptions = false, customSynopsis = "kinema generate PROMPT --output FILE.mp4 [OPTION...]",
        description = "Makes a clip with sound. Its run record is written beside it, as FILE.json.",
        footer = {"", "The files of a clip appear together when all are whole; existing files of these names are replaced."})
final class GenerateCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "PROMPT", description = "What to see and hear.")
    private String prompt;

    @Mixin
    private OutputOptions output;

    @Option(names = "--dry-run", description = "Say what would be done, as kinema plan does, and do nothing.")
    private boolean dryRun;

    @Option(names = "--quiet", description = "Print errors only.")
    private boolean quiet;

    @Option(names = "--json", description = "Print the run record, with the clip's file name, as one JSON document on standard output; with --dry-run, the plan.")
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
        if (dryRun) {
            return new PlanPrinter(terminal, json).print(prompt, output, request, execution);
        }
        if (!output.named()) {
            throw new ParameterException(spec.commandLine(), "missing --output FILE.mp4; see kinema generate --help");
        }
        GenerateRequest wanted = request.request(prompt);
        OutputFiles files = output.files(wanted, execution.engine());
        files.probe();
        Media.preload();
        RouteChoice route = execution.route(wanted);
        try (Interruption interruption = Interruption.watch();
                ProgressPrinter progress = ProgressPrinter.start(terminal, quiet)) {
            Results results = new Results(files, progress);
            try {
                route.reasons().forEach(progress::note);
                generate(wanted, route.options(), progress, interruption, results);
                if (json) {
                    terminal.print(results.document().toPrettyString());
                }
                return ExitCode.DONE;
            } catch (CancelledException cancelled) {
                progress.note(cancelled.getMessage() + "; " + results.written());
                return ExitCode.INTERRUPTED;
            }
        }
    }

    private void generate(GenerateRequest wanted, EngineOptions options, ProgressPrinter progress, Interruption interruption, Results results) {
        try (H3Engine engine = H3Engine.open(options)) {
            // A mistake is one line: nothing is said before everything that can be checked without loading was.
            engine.check(wanted);
            progress.progress(new Progress.StageStarted(Stage.LOADING));
            engine.generateEach(wanted, progress, interruption.cancellation(), results::take);
        }
    }

    /** Writes each clip as it comes, so that one is in memory at a time, and remembers what was written. */
    private final class Results {
        private final OutputFiles files;
        private final ProgressPrinter progress;
        private final ArrayNode documents = JsonNodeFactory.instance.arrayNode();

        Results(OutputFiles files, ProgressPrinter progress) {
            this.files = files;
            this.progress = progress;
        }

        void take(Clip clip) {
            OutputFiles here = files.output(documents.size());
            here.write(clip, output.provenance());
            documents.addObject().put("file", here.clip().toString()).set("record", clip.record().toJson());
            if (clip.record().output().index() == 0) {
                // Later outputs find a warm process; a plan speaks of a command that begins cold.
                MachineRates.remember(clip.record());
            }
            progress.note("wrote " + describe(clip) + " to " + here.clip() + ", its run record to " + here.record());
        }

        /** One clip's file and record, or the list of all. */
        ObjectNode document() {
            return files.outputs() <= 1 ? (ObjectNode) documents.get(0) : JsonNodeFactory.instance.objectNode().set("outputs", documents);
        }

        String written() {
            return documents.isEmpty() ? "nothing was written" : documents.size() + " of " + files.outputs() + " clips were written before";
        }
    }

    private static String describe(Clip clip) {
        return String.format(Locale.ROOT, "%d frames of %dx%d, %.3f s with stereo sound", clip.frameCount(), clip.width(),
                clip.height(), clip.record().request().seconds());
    }
}
