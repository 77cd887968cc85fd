package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SpecVersion;
import io.kinema.engine.Stage;
import io.kinema.jobs.JobStage;
import io.kinema.serve.request.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The document is valid OpenAPI 3.1 and says what the server does. */
class OpenApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path folder;
    private static TestServer server;
    private static ObjectNode document;

    @BeforeAll
    static void start() throws IOException {
        server = TestServer.start(folder);
        document = (ObjectNode) server.get("/openapi.json").json();
    }

    @AfterAll
    static void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void itIsValidByTheSpecificationsOwnSchema() {
        NodeTools.require();
        NodeTools.Result result = NodeTools.script("validate-openapi.mjs", TestServer.ROOT.resolve("serve/src/main/resources/io/kinema/serve/openapi.json").toString());
        assertThat(result.out().strip()).isEqualTo("{\"valid\":true}");
    }

    @Test
    void itHasEveryRouteAndNoOther() {
        Set<String> written = new TreeSet<>();
        document.path("paths").properties().forEach(path -> path.getValue().fieldNames().forEachRemaining(method -> {
            if (!method.equals("parameters")) {
                written.add(method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey());
            }
        }));
        Set<String> real = new TreeSet<>();
        server.server().routes().forEach(route -> real.add(route.method() + " " + route.path().replace('<', '{').replace('>', '}')));
        assertThat(written).isEqualTo(real);
    }

    @Test
    void itHasEveryFieldAndNoOther() {
        Set<String> written = new TreeSet<>();
        document.path("components").path("schemas").path("VideoCall").path("properties").fieldNames().forEachRemaining(written::add);
        Set<String> real = new TreeSet<>();
        Arrays.stream(Field.values()).forEach(field -> real.addAll(field.names()));
        assertThat(written).isEqualTo(real);
    }

    /** A stage that Studio has no words for would be shown by its key. */
    @Test
    void itHasEveryStageAndSoHaveBothLanguagesOfStudio() throws IOException {
        List<String> written = new ArrayList<>();
        document.at("/components/schemas/Video/properties/stage/enum").forEach(stage -> written.add(stage.asText()));
        assertThat(written).containsExactlyElementsOf(Arrays.stream(JobStage.values()).map(JobStage::label).toList());
        Arrays.stream(Stage.values()).forEach(stage -> assertThat(JobStage.of(stage).label()).isEqualTo(stage.key()));
        String words = Files.readString(TestServer.ROOT.resolve("serve/src/main/resources/io/kinema/serve/studio/i18n.js"));
        written.stream().filter(stage -> !List.of("queued", "finished").contains(stage))
                .forEach(stage -> assertThat(words.split("\\bstage_" + stage + ":", -1)).as(stage).hasSize(3));
    }

    @Test
    void everyReferenceLeadsSomewhere() {
        assertThat(document.findValuesAsText("$ref")).isNotEmpty().allSatisfy(reference ->
                assertThat(document.at(reference.substring(1)).isMissingNode()).as(reference).isFalse());
    }

    @Test
    void answersAreAsItSays() {
        String call = "{\"prompt\":\"a circle\",\"frames\":22,\"n\":2}";
        JsonNode created = server.post("/v1/videos", call).json();
        assertFits("Video", created);
        String id = created.path("id").asText();
        assertFits("Video", server.finished(id));
        assertFits("VideoList", server.get("/v1/videos").json());
        assertFits("VideoPlan", server.post("/v1/videos", "{\"prompt\":\"a circle\",\"frames\":22,\"steps\":1,\"dry_run\":true}").json());
        assertFits("Video", server.post("/v1/videos/" + id + "/cancel", "").json());
        assertFits("VideoDeleted", server.delete("/v1/videos/" + id).json());
        assertFits("Problem", server.get("/v1/videos/" + id).json());
        assertFits("Problem", server.post("/v1/videos", "{\"prompt\":\"\"}").json());
        assertFits("ModelList", server.get("/v1/models").json());
        assertFits("Model", server.get("/v1/models/h3-nano").json());
        assertFits("Capabilities", server.get("/v1/capabilities").json());
        assertFits("Health", server.get("/health").json());
        assertFits("Live", server.get("/health/live").json());
    }

    @Test
    void whatItsSchemaTakesTheServerTakes() throws IOException {
        String url = "data:image/png;base64," + Base64.getEncoder().encodeToString(io.kinema.media.image.PngWriter.encode(
                io.kinema.media.image.RgbImage.black(64, 64)));
        for (String call : List.of("{\"prompt\":\"x\",\"seconds\":\"1\"}", "{\"prompt\":\"x\",\"keyframes\":[{\"image_url\":{\"url\":\"U\"},\"position\":\"first\"}]}",
                "{\"prompt\":\"x\",\"references\":[{\"type\":\"image\",\"url\":\"U\"}]}", "{\"prompt\":\"x\",\"input_reference\":[\"U\"],\"guidance_scale\":1}")) {
            String body = call.replace("U", url);
            assertFits("VideoCall", JSON.readTree(body));
            assertThat(server.post("/v1/videos", body).status()).as(body).isEqualTo(202);
        }
    }

    private static void assertFits(String schema, JsonNode value) {
        ObjectNode root = JSON.createObjectNode().put("$schema", "https://json-schema.org/draft/2020-12/schema").put("$ref", "#/components/schemas/" + schema);
        root.set("components", document.path("components"));
        JsonSchema compiled = JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(SchemaLocation.of("urn:kinema"), root);
        assertThat(compiled.validate(value)).as("%s as %s", value, schema).isEmpty();
    }
}
