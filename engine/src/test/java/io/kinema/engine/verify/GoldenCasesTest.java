package io.kinema.engine.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kinema.engine.RankOptions;
import io.kinema.engine.golden.GoldenCase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every golden case, as {@code kinema verify} runs it. */
class GoldenCasesTest {
    private static final List<String> SCALAR = List.of("transformer/t2va", "video_vae/decode_3_48x32",
            "audio_vae/decode_7", "audio_vae/encode_1600", "text_encoder/text_only");

    /** The subset in the repository. */
    @TestFactory
    Stream<DynamicTest> onTheCpu() {
        return tests(GoldenCase.subset(), "cpu");
    }

    /** The networks' smallest cases on the scalar backend, the oracle of the others. */
    @TestFactory
    Stream<DynamicTest> onTheReferenceBackend() {
        return SCALAR.stream().map(name -> DynamicTest.dynamicTest(name, () -> verify(GoldenCase.subset().resolve(name), "reference")));
    }

    /** The bundled cases of what is spread over ranks, within the limits of one rank. */
    @TestFactory
    Stream<DynamicTest> subsetOnTwoRanks() {
        Path root = GoldenCase.subset();
        List<Path> spread = Stream.of("transformer", "lora", "text_encoder", "video_vae", "pipeline").map(root::resolve).toList();
        VerifyOptions options = VerifyOptions.DEFAULTS.withRanks(RankOptions.DEFAULTS.withTensorParallel(2));
        return Verifier.find(spread).stream().map(folder -> DynamicTest.dynamicTest(root.relativize(folder).toString(), () -> verify(folder, options)));
    }

    /** The full set, where this machine has it. */
    @TestFactory
    Stream<DynamicTest> fullSetOnTheCpu() {
        Optional<Path> full = GoldenCase.full();
        return full.isPresent() ? tests(full.get(), "cpu")
                : Stream.of(DynamicTest.dynamicTest("absent: set KINEMA_GOLDENS to the full golden cases",
                        () -> assumeTrue(false, "the full golden cases are not on this machine; KINEMA_GOLDENS names their folder")));
    }

    private static Stream<DynamicTest> tests(Path root, String device) {
        return Verifier.find(List.of(root)).stream()
                .map(folder -> DynamicTest.dynamicTest(root.relativize(folder).toString(), () -> verify(folder, device)));
    }

    private static void verify(Path folder, String device) {
        verify(folder, new VerifyOptions(device, Optional.empty(), OptionalInt.empty(), true));
    }

    private static void verify(Path folder, VerifyOptions options) {
        List<CheckResult> results = new ArrayList<>();
        try (Verifier verifier = Verifier.open(options)) {
            verifier.verify(List.of(folder), results::add);
        }
        assertThat(results).isNotEmpty();
        assertThat(results.stream().filter(r -> !r.ok()).map(CheckResult::line)).isEmpty();
        assertThat(results.stream().flatMap(r -> r.stages().stream().filter(s -> !s.ok()).map(s -> r.line() + " stage " + s))).isEmpty();
    }
}
