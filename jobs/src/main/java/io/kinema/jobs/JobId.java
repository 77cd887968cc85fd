package io.kinema.jobs;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Names a job: {@code video_} and 32 hexadecimal digits that nobody can guess.
 *
 * @param value the whole text
 */
public record JobId(String value) implements Comparable<JobId> {
    private static final Pattern FORM = Pattern.compile("video_[0-9a-f]{32}");
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BYTES = 16;

    /** @throws IllegalArgumentException when the text is no job id; {@link #parse} is for text that a client sent */
    public JobId {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("job id: got another form, expected video_ and 32 hexadecimal digits");
        }
    }

    /** A new one. */
    public static JobId random() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return new JobId("video_" + HexFormat.of().formatHex(bytes));
    }

    /** The id that this text is, or empty. */
    public static Optional<JobId> parse(String text) {
        return FORM.matcher(text).matches() ? Optional.of(new JobId(text)) : Optional.empty();
    }

    @Override
    public int compareTo(JobId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
