package io.kinema.quality;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Measured numbers in JSON, which has no infinity and no NaN: those become the texts {@code inf}, {@code -inf} and {@code nan}. */
public final class JsonNumbers {
    private JsonNumbers() {
    }

    /** Puts a finite number as it is, any other as a text. */
    public static void put(ObjectNode node, String field, double value) {
        if (Double.isFinite(value)) {
            node.put(field, value);
        } else {
            node.put(field, Numbers.plain(value));
        }
    }

    /** Appends to a list what {@link #put} puts. */
    public static void add(ArrayNode list, double value) {
        if (Double.isFinite(value)) {
            list.add(value);
        } else {
            list.add(Numbers.plain(value));
        }
    }
}
