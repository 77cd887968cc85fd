package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.adapter.Alpha;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GenerateRequestJsonTest {
    private static final GenerateRequest FULL = GenerateRequest.prompt("Ein \"roter\" Kreis\n在蓝色背景上").task(Task.REF2VA).image(Path.of("a b.png"))
            .lastImage(Path.of("末.png")).reference(new Reference.Image(Path.of("c:d.png"))).reference(new Reference.Video(Path.of("v.mp4"), true))
            .reference(new Reference.Video(Path.of("v.mp4"), false)).reference(new Reference.Audio(Path.of("s.wav")))
            .reference(new Reference.Latents(Path.of("l.safetensors"), true)).size(256, 320).aspectRatio(new AspectRatio(2.39, 1)).frames(39)
            .seconds(1.1).steps(7).seed(Long.MAX_VALUE).outputs(3).flowShift(0.1 + 0.2).audioFlowShift(3).noiseScheme(NoiseScheme.ONECAT).strict(true)
            .adapter(new AdapterUse(Path.of("/adapters/x.safetensors"), -0.75, Optional.of(Alpha.of(8))))
            .adapter(new AdapterUse(Path.of("/adapters/x:2"), 1, Optional.of(Alpha.RANK))).build();

    @Test
    void aFullRequestComesBackEqual() throws Exception {
        String text = GenerateRequestJson.write(FULL).toString();
        assertThat(GenerateRequestJson.read(new ObjectMapper().readTree(text))).isEqualTo(FULL);
    }

    @Test
    void anEmptyRequestComesBackEqual() throws Exception {
        GenerateRequest least = GenerateRequest.prompt("x").build();
        assertThat(GenerateRequestJson.read(new ObjectMapper().readTree(GenerateRequestJson.write(least).toString()))).isEqualTo(least);
    }

    @Test
    void everyComponentHasAField() {
        ObjectNode node = GenerateRequestJson.write(FULL);
        assertThat(Arrays.stream(GenerateRequest.class.getRecordComponents()).map(RecordComponent::getName)
                .map(name -> name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT)))
                .as("a new component of GenerateRequest needs a line in GenerateRequestJson").allMatch(node::has);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"schema\":\"kinema.generate/2\",\"prompt\":\"x\"}", "{\"schema\":\"kinema.generate/1\"}",
            "{\"schema\":\"kinema.generate/1\",\"prompt\":7}", "{\"schema\":\"kinema.generate/1\",\"prompt\":\"x\",\"width\":1.5}",
            "{\"schema\":\"kinema.generate/1\",\"prompt\":\"x\",\"width\":4294967296}", "{\"schema\":\"kinema.generate/1\",\"prompt\":\"x\",\"seed\":1e30}",
            "{\"schema\":\"kinema.generate/1\",\"prompt\":\"x\",\"task\":\"t2v\"}", "{\"schema\":\"kinema.generate/1\",\"prompt\":\"x\",\"references\":[{}]}",
            "{\"schema\":\"kinema.generate/1\",\"prompt\":\"x\",\"adapters\":[{\"file\":\"a\"}]}"})
    void anotherDocumentIsRefused(String text) {
        assertThatThrownBy(() -> GenerateRequestJson.read(new ObjectMapper().readTree(text))).isInstanceOf(BadRequestException.class);
    }
}
