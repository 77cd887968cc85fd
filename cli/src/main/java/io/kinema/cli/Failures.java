package io.kinema.cli;

import io.kinema.compute.DeviceUnavailableException;
import io.kinema.engine.BadRequestException;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.storage.StorageException;
import io.kinema.media.BadMediaException;
import io.kinema.weights.BadWeightsException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;

/** Turns what a command threw into one line and an exit code. */
final class Failures {
    private Failures() {
    }

    static int report(Throwable failure, CommandSpec command, Terminal terminal, boolean debug) {
        Optional<String> mistake = mistake(failure, command);
        terminal.err().println(command.qualifiedName() + ": " + mistake.orElseGet(() -> unexpected(failure)) + (debug || mistake.isPresent() || outside(failure) ? "" : DEBUG_HINT));
        if (debug) {
            failure.printStackTrace(terminal.err());
        }
        return mistake.isPresent() ? ExitCode.BAD_INPUT : ExitCode.FAILED;
    }

    /** Something that Kinema uses is not there, and the message says what to do. */
    private static boolean outside(Throwable failure) {
        return failure instanceof DeviceUnavailableException || failure instanceof StoreUnavailableException || failure instanceof StorageException;
    }

    private static final String DEBUG_HINT = " (--debug shows where)";

    /** What the user gave wrong, in the words of the room that found it. */
    private static Optional<String> mistake(Throwable failure, CommandSpec command) {
        return switch (failure) {
            case BadWeightsException weights -> Optional.of(oneLine(weights.getMessage()));
            case BadMediaException media -> Optional.of(oneLine(media.getMessage()));
            case BadRequestException request -> Optional.of(oneLine(asOptions(request, command)));
            default -> Optional.empty();
        };
    }

    private static String unexpected(Throwable failure) {
        String message = oneLine(String.valueOf(failure.getMessage()));
        return switch (failure) {
            case DeviceUnavailableException device -> device.getMessage();
            case StoreUnavailableException store -> message;
            case StorageException storage -> message;
            case OutOfMemoryError memory -> "out of memory: " + message;
            default -> "failed with " + failure.getClass().getSimpleName() + ": " + message;
        };
    }

    /** The engine speaks of {@code aspectRatio} and of {@code width and height}; the user typed {@code --aspect-ratio}. */
    private static String asOptions(BadRequestException wrong, CommandSpec command) {
        String field = wrong.field();
        List<String> words = Arrays.stream(field.split(" and ")).map(Failures::optionName).map(word -> singular(word, command)).toList();
        // A field of a file that an option names is called as in the file.
        boolean inFile = wrong.getMessage().startsWith(": '", field.length());
        boolean options = !inFile && words.stream().allMatch(word -> command.findOption(word) != null);
        if (options) {
            return String.join(" and ", words) + wrong.getMessage().substring(field.length());
        }
        return command.findOption("--contract") != null ? fieldName(field) + wrong.getMessage().substring(field.length()) : wrong.getMessage();
    }

    /** {@code residentLayers} as a contract spells it, {@code resident_layers}. */
    private static String fieldName(String field) {
        return field.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    /** The engine's list {@code references} is filled by one {@code --reference} after the other. */
    private static String singular(String option, CommandSpec command) {
        String one = option.replaceAll("s$", "");
        return command.findOption(option) == null && command.findOption(one) != null ? one : option;
    }

    /** {@code aspectRatio} as {@code --aspect-ratio}. */
    static String optionName(String field) {
        return "--" + field.replace(' ', '-').replace('_', '-').replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    static String oneLine(String text) {
        // Arguments and messages of libraries may hold anything: no escape sequence must reach a terminal.
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).reduce((a, b) -> a + " " + b).orElse("no reason given")
                .replaceAll("[\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]", "?");
    }
}
