package io.kinema.cli;

import io.kinema.fuzz.Refusals;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Arguments of the command line, one a line: they parse into a request, or are refused in one line. Runs no command. */
public final class ArgumentsFuzz {
    private static final Terminal NOWHERE = new Terminal(quiet(), quiet(), false);

    private ArgumentsFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        String[] arguments = new String(data, StandardCharsets.UTF_8).split("\n", -1);
        parse(Kinema.commandLine(NOWHERE), arguments);
        RequestAlone alone = new RequestAlone();
        if (parse(new CommandLine(alone).setExpandAtFiles(false), arguments)) {
            Refusals.allow(() -> alone.options.request("a prompt"));
        }
    }

    private static boolean parse(CommandLine line, String[] arguments) {
        try {
            ParseResult parsed = line.parseArgs(arguments);
            return !parsed.isUsageHelpRequested();
        } catch (ParameterException wrong) {
            Refusals.requireOneLine(UsageMistake.describe(wrong), wrong);
            return false;
        }
    }

    private static PrintStream quiet() {
        return new PrintStream(new ByteArrayOutputStream(), false, StandardCharsets.UTF_8);
    }

    /** The options of a request without the command around them. */
    @Command(name = "request")
    private static final class RequestAlone {
        @Mixin
        private RequestOptions options;
    }
}
