package io.kinema.cli;

import java.util.Optional;

/**
 * One thing that {@code kinema doctor} looked at.
 *
 * @param key    name in JSON
 * @param value  what was found
 * @param advice what to do about it; empty when all is well
 */
record Finding(String key, String value, Optional<String> advice) {
    static Finding good(String key, String value) {
        return new Finding(key, value, Optional.empty());
    }

    static Finding bad(String key, String value, String advice) {
        return new Finding(key, value, Optional.of(advice));
    }

    /** The key as a person reads it: {@code free_disk} is "free disk". */
    String label() {
        return key.replace('_', ' ');
    }
}
