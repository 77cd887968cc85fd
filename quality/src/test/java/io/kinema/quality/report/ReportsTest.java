package io.kinema.quality.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.kinema.media.BadMediaException;
import io.kinema.media.audio.Sound;
import io.kinema.media.audio.WavWriter;
import io.kinema.quality.Gate;
import io.kinema.quality.QualityGates;
import io.kinema.quality.compare.Comparer;
import io.kinema.quality.compare.Comparison;
import io.kinema.quality.compare.ComparisonOptions;
import io.kinema.quality.compare.ResultFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

class ReportsTest {
    private static final Pattern VOID = Pattern.compile("<(meta|img)\\b([^>]*)>");

    @TempDir
    private static Path folder;
    private static Comparison comparison;

    @BeforeAll
    static void compare() throws IOException {
        Path a = ResultFolder.whole(folder.resolve("a <b> & \"c\""), 1, 6);
        Path b = ResultFolder.whole(folder.resolve("b"), 1, 0);
        comparison = Comparer.compare(a, b, ComparisonOptions.defaults().withPictures());
    }

    @Test
    void theTableIsMarkdownOfOneWidth() {
        String text = TableReport.of(comparison);
        assertThat(text.lines().filter(line -> line.startsWith("|")).mapToInt(String::length).distinct().toArray()).hasSize(1);
        assertThat(text.lines().filter(line -> line.startsWith("|"))).hasSize(2 + 6);
        assertThat(text).contains("| psnr", ">= 40").endsWith("gates");
        assertThat(text.lines()).last().asString().startsWith(comparison.verdict().passed() ? "PASS" : "FAIL");
    }

    @Test
    void theJsonSaysWhatTheTableSaysAndMore() throws IOException {
        JsonNode json = new ObjectMapper().readTree(JsonReport.of(comparison, true).toString());
        assertThat(json.get("schema").textValue()).isEqualTo("kinema.compare/1");
        assertThat(json.at("/verdict/gates")).hasSize(6);
        assertThat(json.at("/frames/psnr/by_frame")).hasSize(ResultFolder.FRAMES);
        assertThat(json.at("/frames/psnr/overall").doubleValue()).isEqualTo(comparison.pictures().orElseThrow().metrics().psnr().orElseThrow());
        assertThat(json.at("/frames/ssim/worst_frame").intValue()).isEqualTo(comparison.pictures().orElseThrow().metrics().ssimByFrame().worst());
        assertThat(json.at("/frames/candidate/seam_score").isNumber()).isTrue();
        assertThat(json.at("/sound/spectral_cosine/value").doubleValue()).isEqualTo(comparison.sound().orElseThrow().cosine());
        assertThat(json.at("/sync/drift_ms").isNumber()).isTrue();
        assertThat(json.at("/tensors/tensors").findValuesAsText("name")).containsExactlyInAnyOrder("latents", "audio_latents");
    }

    @Test
    void everyKindOfComparisonFitsItsSchemaAndMakesAPage() throws Exception {
        Path a = folder.resolve("a <b> & \"c\"");
        Path silent = folder.resolve("silent.wav");
        WavWriter.write(new Sound(32_000, new float[][] {new float[3200]}), silent);
        List<Comparison> kinds = List.of(comparison, Comparer.compare(a, a, ComparisonOptions.defaults().withPictures()), Comparer.compare(silent, silent, ComparisonOptions.defaults()),
                Comparer.compare(a.resolve("clip.safetensors"), a.resolve("clip.safetensors"), ComparisonOptions.defaults()),
                Comparer.compare(a.resolve("frames"), a.resolve("frames"), ComparisonOptions.defaults()),
                Comparer.compare(a.resolve("frames/frame-00000.png"), a.resolve("frames/frame-00001.png"), ComparisonOptions.defaults().withPictures()));
        JsonSchema schema;
        try (InputStream text = JsonReport.class.getResourceAsStream("compare-1.schema.json")) {
            schema = JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(text);
        }
        for (Comparison kind : kinds) {
            assertThat(schema.validate(new ObjectMapper().readTree(JsonReport.of(kind, true).toString()))).isEmpty();
            assertThat(parse(HtmlReport.page(kind)).getElementsByTagName("h2").getLength()).isGreaterThan(2);
            assertThat(TableReport.of(kind)).doesNotContain("NaN", "Infinity", "Optional");
        }
    }

    @Test
    void thePageIsWellFormedAndNeedsNothingElse() throws Exception {
        String page = HtmlReport.page(comparison);
        Document document = parse(page);
        assertThat(document.getElementsByTagName("script").getLength()).isZero();
        assertThat(document.getElementsByTagName("link").getLength()).isZero();
        assertThat(page).doesNotContain("http://", "https://", "url(", "@import");
        for (int i = 0; i < document.getElementsByTagName("img").getLength(); i++) {
            Element image = (Element) document.getElementsByTagName("img").item(i);
            assertThat(image.getAttribute("src")).startsWith("data:image/png;base64,");
            assertThat(image.getAttribute("alt")).isNotBlank();
        }
        assertThat(document.getElementsByTagName("img").getLength()).isGreaterThanOrEqualTo(3 * 4 + 3);
    }

    @Test
    void everyDrawingHasANameAndEveryTableCellOfARowItsHead() throws Exception {
        Document document = parse(HtmlReport.page(comparison));
        assertThat(document.getDocumentElement().getAttribute("lang")).isEqualTo("en");
        assertThat(document.getElementsByTagName("svg").getLength()).isEqualTo(4);
        for (int i = 0; i < document.getElementsByTagName("svg").getLength(); i++) {
            Element drawing = (Element) document.getElementsByTagName("svg").item(i);
            assertThat(drawing.getAttribute("role")).isEqualTo("img");
            assertThat(drawing.getElementsByTagName("title").item(0).getTextContent()).isNotBlank();
            assertThat(drawing.getElementsByTagName("desc").item(0).getTextContent()).isNotBlank();
        }
        for (int i = 0; i < document.getElementsByTagName("th").getLength(); i++) {
            assertThat(((Element) document.getElementsByTagName("th").item(i)).getAttribute("scope")).isIn("row", "col");
        }
        assertThat(document.getElementsByTagName("h1").getLength()).isOne();
    }

    @Test
    void theSameComparisonGivesTheSameBytes() {
        Comparison again = Comparer.compare(comparison.candidate().given(), comparison.reference().given(), ComparisonOptions.defaults().withPictures());
        assertThat(JsonReport.of(again, true).toString()).isEqualTo(JsonReport.of(comparison, true).toString());
        assertThat(HtmlReport.page(again)).isEqualTo(HtmlReport.page(comparison));
    }

    @Test
    void namesWithMarkupStayText() {
        assertThat(HtmlReport.page(comparison)).contains("a &lt;b&gt; &amp; &quot;c&quot;").doesNotContain("a <b> &");
    }

    @Test
    void aRelaxedGateShowsEverywhere() {
        Comparison relaxed = new Comparison(comparison.candidate(), comparison.reference(), comparison.tensors(), comparison.pictures(), comparison.sound(), comparison.sync(),
                comparison.notes(), comparison.warnings(), QualityGates.published().relax(Gate.PSNR, 20).judge(Map.of(Gate.PSNR, 25.0)));
        assertThat(TableReport.of(relaxed)).contains("(relaxed from 40)").contains("RELAXED");
        assertThat(HtmlReport.page(relaxed)).contains("relaxed from 40").contains("RELAXED");
        assertThat(JsonReport.of(relaxed, true).at("/verdict/relaxed").booleanValue()).isTrue();
    }

    @Test
    void thePageAppearsWholeOrNotAtAll() throws IOException {
        Path file = folder.resolve("report.html");
        HtmlReport.write(comparison, file);
        assertThat(Files.readString(file)).startsWith("<!doctype html>").endsWith("</html>\n");
        assertThatThrownBy(() -> HtmlReport.write(comparison, folder.resolve("none/report.html"))).isInstanceOf(BadMediaException.class);
        assertThatThrownBy(() -> HtmlReport.write(comparison, folder)).isInstanceOf(BadMediaException.class);
        assertThat(folder.resolve("none")).doesNotExist();
    }

    /** The page as XML: only its void elements and its doctype are not. */
    private static Document parse(String page) throws Exception {
        String xml = VOID.matcher(page.replace("<!doctype html>", "")).replaceAll("<$1$2/>");
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        return factory.newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
    }
}
