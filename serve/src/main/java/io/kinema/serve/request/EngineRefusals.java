package io.kinema.serve.request;

import io.kinema.engine.BadRequestException;
import io.kinema.media.BadMediaException;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Says the engine's refusals in the words of the API: its own field names, and no path of this machine. */
final class EngineRefusals {
    /** What is left of a path once the names of the call's files were put in place. */
    private static final Pattern PATH = Pattern.compile("(?<=^|[\\s'(=:])/[^\\s'\"),;]*/([^\\s'\"),;/]*)");

    private EngineRefusals() {
    }

    /** Does something with the engine; what it refuses comes out as a {@link Problem}. */
    static <T> T in(List<MediaStager.Staged> files, Supplier<T> work) {
        try {
            return work.get();
        } catch (BadRequestException e) {
            String field = label(e.field());
            throw Problem.sentence(ProblemKind.INVALID, field, field + told(e.getMessage().substring(Math.min(e.field().length(), e.getMessage().length())), files));
        } catch (BadMediaException e) {
            String field = culprit(e.getMessage(), files).orElse("references");
            throw Problem.sentence(ProblemKind.INVALID, field, told(e.getMessage(), files));
        } catch (BadWeightsException e) {
            throw Problem.sentence(ProblemKind.INVALID, "adapters", told(e.getMessage(), files));
        }
    }

    private static Optional<String> culprit(String message, List<MediaStager.Staged> files) {
        return files.stream().filter(file -> message.contains(file.file().toString())).map(file -> file.input().name()).findFirst();
    }

    private static String told(String message, List<MediaStager.Staged> files) {
        String told = message;
        for (MediaStager.Staged file : files) {
            Path path = file.file();
            told = told.replace("'" + path + "'", file.input().name()).replace(path.toString(), file.input().name());
        }
        return PATH.matcher(told).replaceAll("$1");
    }

    /** {@code flow_shift} for {@code flowShift}; fields that the API calls otherwise by their names here. */
    private static String label(String field) {
        return switch (field) {
            case "image" -> Field.FIRST_IMAGE.label();
            case "lastImage" -> Field.LAST_IMAGE.label();
            case "adapter" -> Field.ADAPTERS.label();
            default -> field.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
        };
    }
}
