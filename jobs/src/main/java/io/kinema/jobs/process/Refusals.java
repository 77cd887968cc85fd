package io.kinema.jobs.process;

import io.kinema.engine.BadRequestException;
import io.kinema.jobs.JobError;
import io.kinema.media.BadMediaException;
import io.kinema.weights.BadWeightsException;
import java.util.regex.Pattern;

/** Words what an engine threw as a {@link JobError}: one line, without the folders of the machine that it ran on. */
public final class Refusals {
    /** The folders of an absolute path, up to the last name: in quotes, which may hold blanks, and without. */
    private static final Pattern QUOTED_FOLDERS = Pattern.compile("(?<=')/[^']*/(?=[^'/]*')");
    private static final Pattern FOLDERS = Pattern.compile("(?<![\\w./])/(?!/)(?:[^/\\s'\":;,]+/)+");
    private static final int LONGEST = 1000;

    private Refusals() {
    }

    /** The result could not be written. */
    public static final class CannotWriteException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public CannotWriteException(RuntimeException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** What the job ends with. */
    public static JobError of(Throwable failure) {
        return switch (failure) {
            case BadRequestException wrong -> new JobError(JobError.Code.BAD_REQUEST, shown(wrong));
            case BadMediaException wrong -> new JobError(JobError.Code.BAD_REQUEST, shown(wrong));
            case BadWeightsException wrong -> new JobError(JobError.Code.BAD_REQUEST, shown(wrong));
            case CannotWriteException full -> new JobError(JobError.Code.STORAGE_FAILED, shown(full));
            case OutOfMemoryError memory -> new JobError(JobError.Code.GENERATION_FAILED, "the engine ran out of memory; ask for fewer frames or a smaller canvas");
            default -> new JobError(JobError.Code.GENERATION_FAILED, "the engine failed: " + shown(failure));
        };
    }

    private static String shown(Throwable failure) {
        String text = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        return withoutFolders(text);
    }

    /** One line in which files appear by their last name only. */
    static String withoutFolders(String text) {
        String line = FOLDERS.matcher(QUOTED_FOLDERS.matcher(text).replaceAll("")).replaceAll("").replaceAll("[\\p{Cc}\\p{Zl}\\p{Zp}]+", " ").strip();
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
    }
}
