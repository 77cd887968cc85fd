package io.kinema.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema plan}: what a request would do and cost. */
@Command(name = "plan", sortOptions = false, customSynopsis = "kinema plan PROMPT [OPTION...]",
        description = "Says what generate would do with the same options, without loading weights, and refuses what it would refuse.")
final class PlanCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "PROMPT", description = "What to see and hear.")
    private String prompt;

    @Mixin
    private OutputOptions output;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Option(names = "--quiet", hidden = true, description = "As generate takes it; changes nothing here.")
    private boolean quiet;

    @Mixin
    private RequestOptions request;

    @Mixin
    private ExecutionOptions execution;

    PlanCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        return new PlanPrinter(terminal, json).print(prompt, output, request, execution);
    }
}
