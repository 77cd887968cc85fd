package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.cuda.ops.ProductForm.Step;
import io.kinema.weights.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Launches know the forms that the kernels have: product_form.cuh is read, whose numbers its compiler has checked. */
class ProductFormTest {
    private static final Path FORMS = Path.of(System.getProperty("kinema.root")).resolve("cuda/src/main/cuda/product_form.cuh");
    private static final Pattern NUMBERS = Pattern.compile("static_assert\\(launches<(\\w+)>\\((\\d+), (\\d+), (\\d+), (\\d+)\\)");
    private static final Pattern BLOCKS = Pattern.compile("using (\\w+) = Form<(\\d), \\d, \\d, \\w+>;");
    private static final Pattern KERNEL = Pattern.compile("EACH\\((\\w+), (\\w+), (\\w+), (\\w+), (\\w+)\\)");
    private static final Pattern CONSTANT = Pattern.compile("constexpr int TILE_COLUMNS = (\\d+);");

    private static List<MatchResult> found(Pattern pattern) throws IOException {
        return pattern.matcher(Files.readString(FORMS)).results().toList();
    }

    /** TwoInTurns: TWO_IN_TURNS. */
    private static ProductForm named(String name) {
        return ProductForm.valueOf(name.replaceAll("(?<=.)([A-Z])", "_$1").toUpperCase(java.util.Locale.ROOT));
    }

    @Test
    void formsHaveTheNumbersOfTheKernels() throws IOException {
        Map<ProductForm, List<Integer>> kernels = new TreeMap<>();
        for (MatchResult m : found(NUMBERS)) {
            kernels.put(named(m.group(1)), List.of(Integer.valueOf(m.group(2)), Integer.valueOf(m.group(3)), Integer.valueOf(m.group(4)), Integer.valueOf(m.group(5))));
        }
        assertThat(kernels).hasSize(ProductForm.values().length).allSatisfy((form, numbers) ->
                assertThat(List.of(form.tileRows(), form.weightRows(), form.threads(), form.sharedBytes())).as(form.name()).isEqualTo(numbers));
    }

    @Test
    void clustersHaveTheBlocksOfTheKernels() throws IOException {
        assertThat(found(CONSTANT)).singleElement().satisfies(m -> assertThat(m.group(1)).isEqualTo(Integer.toString(ProductForm.TILE_COLUMNS)));
        assertThat(found(BLOCKS)).hasSize(ProductForm.values().length)
                .allSatisfy(m -> assertThat(named(m.group(1)).blocks()).as(m.group(1)).isEqualTo(Integer.parseInt(m.group(2))));
    }

    @Test
    void everyKernelIsLaunchedInItsForm() throws IOException {
        List<MatchResult> kernels = found(KERNEL);
        assertThat(kernels).hasSize(2 * Step.values().length);
        assertThat(kernels).allSatisfy(m -> {
            DType operands = DType.valueOf(m.group(2));
            Step step = Step.valueOf(m.group(4));
            assertThat(ProductForm.kernel(operands, step)).isEqualTo("kinema_product_" + m.group(1) + "_" + m.group(3));
            assertThat(ProductForm.of(step)).as(m.group()).isEqualTo(named(m.group(5)));
        });
    }
}
