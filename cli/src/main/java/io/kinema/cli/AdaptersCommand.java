package io.kinema.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kinema adapters}: what is done with adapter files besides generating. */
@Command(name = "adapters", description = "Looks at adapter files.", synopsisSubcommandLabel = "COMMAND")
final class AdaptersCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which command? try " + String.join(", ", spec.subcommands().keySet())
                + "; kinema adapters COMMAND --help explains it");
    }
}
