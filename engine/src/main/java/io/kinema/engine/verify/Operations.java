package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** The operations of one component of the golden format. */
interface Operations {
    /** Computes the answer to one check. */
    @FunctionalInterface
    interface Operation {
        Answer answer(Question question);
    }

    /** By the name that cases call them. */
    Map<String, Operation> byName();

    /** The plain value a check expects; only called when it has one. */
    default JsonNode expectedValue(CaseFile file, CaseFile.Check check) {
        return check.value().orElseThrow();
    }
}
