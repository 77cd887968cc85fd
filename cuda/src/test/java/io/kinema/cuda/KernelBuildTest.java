package io.kinema.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The shipped kernels are the ones that the sources here make: hashes, names and what the compilers reported. */
class KernelBuildTest {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root"));
    private static final Path SOURCES = ROOT.resolve("cuda/src/main/cuda");
    private static final Path KERNELS = ROOT.resolve("cuda/src/main/resources/io/kinema/cuda/kernels");
    private static final Pattern KERNEL = Pattern.compile("kinema_[a-z0-9_]+");
    private static final long MOST_BYTES = 3_000_000;

    private final JsonNode manifest = read(KERNELS.resolve("manifest.json"));

    private static JsonNode read(Path file) {
        try {
            return new ObjectMapper().readTree(file.toFile());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private Stream<JsonNode> each(String list) {
        return StreamSupport.stream(manifest.get(list).spliterator(), false);
    }

    private static String sha256(byte[] bytes) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private static Map<String, String> hashes(Path folder, Pattern names, boolean zipped) throws IOException, NoSuchAlgorithmException {
        Map<String, String> hashes = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(f -> names.matcher(f.toString()).matches()).toList()) {
                String name = folder.relativize(file).toString();
                hashes.put(zipped ? name.substring(0, name.length() - ".gz".length()) : name, sha256(zipped ? unzip(file) : Files.readAllBytes(file)));
            }
        }
        return hashes;
    }

    private static byte[] unzip(Path file) throws IOException {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            return in.readAllBytes();
        }
    }

    private Map<String, String> recorded(String list) {
        return each(list).collect(Collectors.toMap(n -> n.get("file").asText(), n -> n.get("sha256").asText(), (a, b) -> a, TreeMap::new));
    }

    @Test
    void sourcesAreTheOnesThatWereCompiled() throws Exception {
        assertThat(hashes(SOURCES, Pattern.compile(".*\\.cuh?"), false))
                .as("hashes of cuda/src/main/cuda; run scripts/kernels after a change there")
                .isEqualTo(recorded("sources"));
    }

    @Test
    void binariesAreTheOnesThatTheManifestNames() throws Exception {
        assertThat(hashes(KERNELS, Pattern.compile(".*\\.gz"), true)).isEqualTo(recorded("binaries"));
    }

    @Test
    void everyKernelOfTheContractIsCompiledForEveryArchitecture() throws IOException {
        String contract = Files.readString(SOURCES.resolve("KERNELS.md"));
        TreeSet<String> named = KERNEL.matcher(contract).results().map(m -> m.group()).collect(Collectors.toCollection(TreeSet::new));
        for (String arch : List.of("sm_70", "sm_80", "sm_90a")) {
            TreeSet<String> compiled = kernels(arch);
            assertThat(compiled).as(arch).allMatch(k -> named.contains(k) || named.contains(family(k)));
            assertThat(compiled).as(arch).containsAll(named.stream().filter(k -> !k.contains("flash") && !k.startsWith("kinema_product_") && !k.startsWith("kinema_attention_f32")).toList());
        }
        assertThat(kernels("sm_70")).contains("kinema_flash_f16_d128_q128").doesNotContain("kinema_flash_bf16_d128_q128");
        assertThat(kernels("sm_90a")).contains("kinema_flash_bf16_d128_q128", "kinema_flash_wgmma_bf16_d128_q128", "kinema_product_bf16_heads");
    }

    /** The first of a family of names that differ in operand type, width and query tile. */
    private static String family(String kernel) {
        return kernel.replaceAll("product_bf16", "product_f16").replaceAll("_b?f16_d\\d+_q\\d+$", "_f16_d64_q64").replaceAll("(attention_f32)_d\\d+$", "$1_d64");
    }

    private TreeSet<String> kernels(String arch) {
        return each("kernels").filter(k -> k.get("arch").asText().equals(arch)).map(k -> k.get("kernel").asText())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theHotKernelsDoNotSpill() {
        List<String> hot = List.of("kinema_rms_norm_modulate", "kinema_head_norm_rotary", "kinema_binary", "kinema_gated_residual_add",
                "kinema_prepare_f16", "kinema_swiglu_prepare_f16", "kinema_rotate", "kinema_epilogue", "kinema_ring_sum", "kinema_peer_sum", "kinema_flash_f16_d64_q128",
                "kinema_flash_wgmma_bf16_d128_q128", "kinema_flash_wgmma_f16_d128_q128", "kinema_flash_wgmma_f16_d64_q192", "kinema_rms_norm_narrow");
        assertThat(each("kernels").filter(k -> hot.contains(k.get("kernel").asText()) || k.get("kernel").asText().startsWith("kinema_product_")))
                .hasSizeGreaterThan(2 * hot.size())
                .allSatisfy(k -> {
                    assertThat(k.get("spillStoreBytes").asInt()).as(k.toString()).isZero();
                    assertThat(k.get("spillLoadBytes").asInt()).as(k.toString()).isZero();
                });
    }

    @Test
    void noAttentionForSm90Spills() {
        assertThat(each("kernels").filter(k -> k.get("kernel").asText().startsWith("kinema_flash_wgmma_"))).hasSize(12).allSatisfy(k -> {
            assertThat(k.get("stackBytes").asInt()).as(k.toString()).isZero();
            assertThat(k.get("spillStoreBytes").asInt()).as(k.toString()).isZero();
        });
    }

    @Test
    void binariesStaySmall() throws IOException {
        try (Stream<Path> files = Files.walk(KERNELS)) {
            assertThat(files.filter(Files::isRegularFile).mapToLong(f -> f.toFile().length()).sum()).isLessThan(MOST_BYTES);
        }
    }

    @Test
    @Tag("long")
    void theCompilersMakeTheseBinaries(@TempDir Path folder) throws Exception {
        for (JsonNode compiler : manifest.get("compilers")) {
            boolean nvcc = compiler.get("name").asText().equals("nvcc");
            String command = nvcc ? System.getenv().getOrDefault("CUDA_HOME", "/usr/local/cuda-13.0") + "/bin/nvcc" : System.getenv().getOrDefault("CLANG", "clang-19");
            assumeThat(version(command)).as("%s of the version that compiled the shipped kernels", command).contains(compiler.get("version").asText());
        }
        Path log = folder.resolve("log");
        Process build = new ProcessBuilder(ROOT.resolve("scripts/kernels").toString(), folder.resolve("kernels").toString())
                .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        assertThat(build.waitFor()).as(() -> logged(log)).isZero();
        assertThat(hashes(folder.resolve("kernels"), Pattern.compile(".*\\.gz"), true)).isEqualTo(recorded("binaries"));
    }

    private static String version(String command) throws InterruptedException {
        try {
            Process p = new ProcessBuilder(command, "--version").redirectErrorStream(true).start();
            String text = new String(p.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            return p.waitFor() == 0 ? text : "";
        } catch (IOException absent) {
            return "";
        }
    }

    private static String logged(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
