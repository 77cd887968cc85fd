package io.kinema.jobs.storage;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Names a stored file, or everything below a prefix: parts joined by {@code /}. A key cannot lead out of the storage: a part holds
 * letters, digits, {@code _}, {@code -} and {@code .}, and does not begin with a dot.
 *
 * @param value {@code outputs/video_.../0/clip.mp4}
 */
public record StorageKey(String value) {
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,7}");

    /** @throws IllegalArgumentException when the text has another form */
    public StorageKey {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("storage key: got another form, expected 1 to 8 parts of letters, digits, '_', '-' and '.', joined by '/'");
        }
    }

    /** The key of these parts. */
    public static StorageKey of(String... parts) {
        return new StorageKey(String.join("/", parts));
    }

    /** A key below this one. */
    public StorageKey resolve(String part) {
        return new StorageKey(value + "/" + part);
    }

    /** Its parts. */
    public List<String> parts() {
        return List.of(value.split("/"));
    }

    @Override
    public String toString() {
        return value;
    }
}
