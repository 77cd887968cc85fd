package io.kinema.cli;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** One line about arguments that do not parse. */
final class UsageMistake {
    private UsageMistake() {
    }

    static String describe(ParameterException wrong) {
        CommandSpec spec = wrong.getCommandLine().getCommandSpec();
        return Failures.oneLine(switch (wrong) {
            case UnmatchedArgumentException unmatched -> unmatched(spec, unmatched);
            case MissingParameterException missing -> missing(missing) + "; see " + spec.qualifiedName() + " --help";
            default -> wrong.getArgSpec() instanceof OptionSpec option && wrong.getValue() != null ? unreadable(option, wrong) : wrong.getMessage();
        });
    }

    private static String unreadable(OptionSpec option, ParameterException wrong) {
        if (option.arity().max() == 0) {
            return option.longestName() + ": got '" + wrong.getValue() + "', expected no value; it is a switch";
        }
        Class<?> type = option.auxiliaryTypes()[0];
        String expected = type == Double.class ? "a number" : type == Path.class ? "a file name" : "a whole number";
        boolean bytes = option.converters().length > 0 && option.converters()[0] instanceof ByteCount;
        return option.longestName() + ": got '" + wrong.getValue() + "', expected " + (bytes ? ByteCount.EXPECTED : expected);
    }

    private static String missing(MissingParameterException wrong) {
        List<String> names = wrong.getMissing().stream().map(argument -> argument.isOption()
                ? ((OptionSpec) argument).longestName() + " " + argument.paramLabel()
                : argument.paramLabel()).toList();
        return names.isEmpty() ? wrong.getMessage() : "missing " + String.join(" and ", names);
    }

    private static String unmatched(CommandSpec spec, UnmatchedArgumentException wrong) {
        String argument = wrong.getUnmatched().getFirst();
        if (argument.startsWith("-")) {
            String name = argument.contains("=") ? argument.substring(0, argument.indexOf('=')) : argument;
            return "unknown option '" + name + "'" + nearest(wrong);
        }
        if (!spec.subcommands().isEmpty()) {
            return "unknown command '" + argument + "'" + nearest(wrong);
        }
        return "unexpected argument '" + argument + "'; " + (spec.positionalParameters().isEmpty() ? spec.qualifiedName() + " takes options alone, --help lists them"
                : "put quotes around a text with blanks");
    }

    private static String nearest(UnmatchedArgumentException wrong) {
        List<String> suggestions = wrong.getSuggestions();
        return (suggestions.isEmpty() ? "" : "; the nearest is '" + suggestions.getFirst() + "'") + "; --help lists them all";
    }
}
