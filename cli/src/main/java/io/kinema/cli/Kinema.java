package io.kinema.cli;

import java.io.PrintStream;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code kinema} command: reads the arguments, runs a command, and turns whatever happens into an exit code. */
@Command(name = "kinema", versionProvider = Version.class,
        description = "Makes video clips with sound from text and pictures with MiniMax H3.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:something failed", "2:the input is wrong", "130:interrupted"})
public final class Kinema implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT, description = "Print this help.")
    private boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "Print Kinema's version.")
    private boolean version;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Print the stack trace of a failure.")
    private boolean debug;

    private Kinema() {
    }

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        ErrorStream.takeBack();
        System.exit(run(Terminal.ofProcess(), arguments));
    }

    /** Runs one command; nothing is thrown and the process goes on. */
    static int run(Terminal terminal, String... arguments) {
        Kinema kinema = new Kinema();
        CommandLine line = commandLine(kinema, terminal);
        line.setParameterExceptionHandler((wrong, ignored) -> refuse(terminal, wrong));
        line.setExecutionExceptionHandler((failure, at, parsed) -> Failures.report(failure, at.getCommandSpec(), terminal, kinema.debug));
        int exit = line.execute(arguments);
        boolean lost = terminal.out().checkError();
        if (lost) {
            terminal.err().println("kinema: standard output cannot be written, so the result is lost; free some space or send it elsewhere");
        }
        terminal.err().flush();
        return lost && exit == ExitCode.DONE ? ExitCode.FAILED : exit;
    }

    /** The whole command tree, for tests that parse without running. */
    static CommandLine commandLine(Terminal terminal) {
        return commandLine(new Kinema(), terminal);
    }

    private static CommandLine commandLine(Kinema kinema, Terminal terminal) {
        CommandLine line = new CommandLine(kinema);
        for (Object command : List.of(
                new GenerateCommand(terminal),
                new PlanCommand(terminal),
                new ServeCommand(terminal),
                new WorkerCommand(terminal),
                new WorkerEngineCommand(),
                new InspectCommand(terminal),
                new CompareCommand(terminal),
                new ConvertCommand(terminal),
                new QuantizeCommand(terminal),
                new VerifyCommand(terminal),
                new BenchCommand(terminal),
                new QualifyCommand(terminal),
                new StepCommand(terminal),
                new DecodeCommand(terminal),
                new CapabilitiesCommand(terminal),
                new PreparedCommand(terminal),
                new DoctorCommand(terminal))) {
            line.addSubcommand(command);
        }
        line.addSubcommand(new CommandLine(new AdaptersCommand()).addSubcommand(new AdaptersInspectCommand(terminal)));
        line.setOut(terminal.outWriter()).setErr(terminal.errWriter());
        line.setAbbreviatedOptionsAllowed(false);
        // A prompt may begin with @; it must never be taken for the name of a file of arguments.
        line.setExpandAtFiles(false);
        line.setUsageHelpAutoWidth(true);
        line.getSubcommands().values().forEach(command -> command.getHelpSectionMap()
                .put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, new OptionSections()));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which command? try one of "
                + String.join(", ", commandsShown()) + "; kinema COMMAND --help explains it");
    }

    private List<String> commandsShown() {
        return spec.subcommands().values().stream().map(CommandLine::getCommandSpec).filter(command -> !command.usageMessage().hidden())
                .map(CommandSpec::name).toList();
    }

    private static int refuse(Terminal terminal, ParameterException wrong) {
        PrintStream err = terminal.err();
        err.println(wrong.getCommandLine().getCommandSpec().qualifiedName() + ": " + UsageMistake.describe(wrong));
        return ExitCode.BAD_INPUT;
    }
}
