package io.kinema.serve.http;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A part of a file, as a Range header asks for it.
 *
 * @param first first byte
 * @param last  last byte, inclusive
 */
public record ByteRange(long first, long last) {
    private static final Pattern ONE = Pattern.compile("bytes=\\s*(\\d{0,18})\\s*-\\s*(\\d{0,18})\\s*");

    /**
     * The range of a header; empty for the whole file, which also answers several ranges at once and units that are not bytes.
     *
     * @param header empty when there is none
     * @param length of the file
     * @throws Problem when it lies beyond the file
     */
    public static Optional<ByteRange> parse(String header, long length) {
        Matcher one = ONE.matcher(header);
        if (!one.matches() || one.group(1).isEmpty() && one.group(2).isEmpty()) {
            return Optional.empty();
        }
        if (one.group(1).isEmpty()) {
            long suffix = Long.parseLong(one.group(2));
            return Optional.of(within(Math.max(0, length - suffix), length - 1, length, suffix == 0));
        }
        long first = Long.parseLong(one.group(1));
        long last = one.group(2).isEmpty() ? length - 1 : Long.parseLong(one.group(2));
        if (last < first) {
            // Not a range at all: the header does not count.
            return one.group(2).isEmpty() ? Optional.of(within(first, last, length, true)) : Optional.empty();
        }
        return Optional.of(within(first, Math.min(last, length - 1), length, false));
    }

    private static ByteRange within(long first, long last, long length, boolean empty) {
        if (empty || first >= length) {
            throw Problem.field(ProblemKind.RANGE, "range", "bytes from " + first, "expected 0 to " + (length - 1));
        }
        return new ByteRange(first, last);
    }

    public long count() {
        return last - first + 1;
    }
}
