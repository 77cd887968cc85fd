package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import io.kinema.engine.record.RunRecord;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Set;

/** The published schema of run records. */
public final class RunRecordSchema {
    private RunRecordSchema() {
    }

    /** Fails with every sentence that the schema has against it. */
    public static void requireValid(JsonNode record) {
        assertThat(problems(record)).isEmpty();
    }

    public static Set<ValidationMessage> problems(JsonNode record) {
        try (InputStream text = RunRecord.class.getResourceAsStream("run-2.schema.json")) {
            JsonSchema schema = JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(text);
            return schema.validate(record);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
