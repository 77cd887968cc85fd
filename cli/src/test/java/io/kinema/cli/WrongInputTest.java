package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong input typed at a shell: exit code 2, one line that helps, nothing left on disk. */
class WrongInputTest {
    private static final Path MODEL = Shell.ROOT.resolve("models/h3-nano");
    private static final List<String> ALL_OUTPUTS = List.of("--wav", "--frames-dir", "--save-latents");

    /** Where the command runs; it must stay as empty as it was. */
    @TempDir
    private Path folder;

    /** What a test prepares. */
    @TempDir
    private Path given;

    @BeforeAll
    static void build() {
        assertThat(Shell.bare(Shell.ROOT).kinema("--version").exit()).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--widht 256              | unknown option '--widht'; the nearest is '--width'",
        "--width=300 --height=256 | --width: got 300, expected a multiple of 32; the nearest are 288 and 320",
        "--width 256              | --width: got 256 alone, expected width and height together",
        "--width 2048 --height 2048 | --width and --height: got 2048x2048",
        "--width 0 --height 0     | --width: got 0",
        "--width -32 --height 256 | --width: got -32",
        "--width 99999999999 --height 256 | --width: got '99999999999', expected a whole number",
        "--frames 0               | --frames: got 0",
        "--frames -5              | --frames: got -5",
        "--frames 1000000000      | --frames: got 1000000000",
        "--frames many            | --frames: got 'many', expected a whole number",
        "--frames 30 --strict     | --frames: got 30, expected 17n + 5; the nearest are 22 and 39",
        "--frames 22 --seconds 1  | --seconds: got 1.0 together with frames 22",
        "--seconds 0              | --seconds: got 0.0",
        "--seconds NaN            | --seconds: got NaN",
        "--seconds 1e300          | --seconds: got 1.0E300",
        "--steps 0                | --steps: got 0, expected 1 to",
        "--steps 1000000          | --steps: got 1000000",
        "--seed -1                | --seed: got -1",
        "--seed 1e3               | --seed: got '1e3', expected a whole number",
        "--threads 0              | --threads: got 0",
        "--tensor-parallel 3      | --tensor-parallel: got 3, expected 1, 2 or 4",
        "--tensor-parallel 2 --device cuda:0 | --device: got cuda:0, which is 1 device, expected one for each of 2 ranks",
        "--flow-shift 0           | --flow-shift: got 0.0",
        "--audio-flow-shift NaN   | --audio-flow-shift: got NaN",
        "--aspect-ratio 16        | --aspect-ratio: got '16', expected A:B, for example 16:9",
        "--aspect-ratio 100:1     | --aspect-ratio: got 100",
        "--task video             | --task: got 'video', expected t2va, fl2va or ref2va",
        "--task fl2va             | --task: got fl2va, which needs a first or last image",
        "--noise-scheme x         | --noise-scheme: got 'x', expected diffusers or onecat",
        "--precision fp64         | --precision: got 'fp64', expected fp32",
        "--fp16-weight-layout diagonal --precision fp16-fp32res | --fp16-weight-layout: got 'diagonal', expected row or column",
        "--fp16-weight-layout column | --fp16-weight-layout: got column, expected no layout with precision fp32",
        "--fp16-weight-layout row --precision bf16-fp32res | --fp16-weight-layout: got row, expected no layout with precision bf16-fp32res",
        "--residual-sequence-parallel --residual-reduction ring | --residual-reduction: got 'ring', expected native or peer",
        "--tensor-parallel 4 --residual-reduction peer | --residual-reduction: got peer, expected native where every rank has all residual rows; add --residual-sequence-parallel",
        "--residual-sequence-parallel --residual-reduction-memory-gib 2 | --residual-reduction-memory-gib: got 2.0, expected none with the native reduction",
        "--residual-sequence-parallel --residual-reduction peer --residual-reduction-memory-gib 0 | --residual-reduction-memory-gib: got 0.0, expected more than 0",
        "--device tpu:0           | --device: got tpu:0, this build runs on cpu and cuda:N",
        "--seconds long           | --seconds: got 'long', expected a number",
        "--seed 1 --frames 22 --seed 2 | '--seed' (N) should be specified only once",
        "--model nowhere          | nowhere",
        "--image nowhere.png      | nowhere.png",
    })
    void aValueOutsideItsRange(String options, String says) {
        List<String> arguments = new ArrayList<>(List.of("generate", "A red circle", "--output", "clip.mp4"));
        arguments.addAll(List.of(options.split(" +")));
        refused(Shell.bare(folder).kinema(arguments.toArray(String[]::new)), says);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "   ", "\n\t"})
    void anEmptyPrompt(String prompt) {
        refused(generate(prompt), "prompt: got an empty text");
    }

    @Test
    void noPrompt() {
        refused(Shell.bare(folder).kinema("generate", "--output", "clip.mp4"), "missing PROMPT");
    }

    @Test
    void noOutput() {
        refused(Shell.bare(folder).kinema("generate", "A red circle"), "missing --output");
    }

    @Test
    void aPromptWithoutQuotes() {
        refused(Shell.bare(folder).kinema("generate", "A", "red", "circle", "--output", "clip.mp4"), "quotes");
    }

    @Test
    void anOutputOfAnotherKind() {
        refused(Shell.bare(folder).kinema("generate", "A red circle", "--output", "clip.avi"), "--output: got 'clip.avi', expected a file name that ends in .mp4");
    }

    @Test
    void anOutputInAMissingFolder() {
        refused(Shell.bare(folder).kinema("generate", "A red circle", "--output", "no/such/clip.mp4"), "does not exist");
    }

    @Test
    void anOutputThatIsAFolder() throws IOException {
        Path output = Files.createDirectory(given.resolve("clip.mp4"));
        refused(Shell.bare(folder).kinema("generate", "A red circle", "--output", output.toString()), "it is a folder");
    }

    @Test
    void aFolderThatIsNoModel() {
        refused(generate("A red circle", "--model", given.toString()), "model_index.json");
    }

    @Test
    void aTruncatedWeightFile() throws IOException {
        Path model = copyOfTheModel();
        Path truncated = model.resolve("transformer/diffusion_pytorch_model.safetensors");
        try (FileChannel channel = FileChannel.open(truncated, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
        refused(generate("A red circle", "--model", model.toString()), truncated.getFileName().toString());
    }

    @Test
    void anEmptyPicture() throws IOException {
        refusedPicture(Files.createFile(given.resolve("empty.png")));
    }

    @Test
    void aFileThatIsNoPicture() throws IOException {
        refusedPicture(Files.writeString(given.resolve("text.png"), "I am not a picture.\n".repeat(20)));
    }

    @Test
    void aPictureOfOnePixel() throws IOException {
        refusedPicture(pngHeader("one.png", 1, 1));
    }

    @Test
    void aPictureThatClaimsToBeHuge() throws IOException {
        refusedPicture(pngHeader("huge.png", 40_000, 40_000));
    }

    @Test
    void aReadOnlyFolder() {
        Shell.Result result = mounted("ro,size=64k", "clip.mp4", List.of());
        refused(result, "cannot be written");
    }

    /** The sound, the frames, the latents or the clip is the first that finds no room: nothing of any of them stays. */
    @ParameterizedTest
    @ValueSource(strings = {"size=16k", "size=160k", "size=16k --frames-dir", "size=16k --save-latents"})
    void noSpaceLeft(String kind) {
        String[] words = kind.split(" ");
        Shell.Result result = mounted(words[0], "clip.mp4", words.length == 1 ? ALL_OUTPUTS : List.of(words[1]));
        refused(result, "No space left");
        assertThat(result.out()).as("files left").isBlank();
    }

    /** Generates into a file system of the given kind that only this command sees, then lists what is in it. */
    private Shell.Result mounted(String options, String output, List<String> others) {
        String script = "mount -t tmpfs -o \"$1\" none \"$2\" || exit 77\n"
                + "\"$3\" generate 'A red circle' --frames 22 --steps 1 --quiet --output \"$2/$4\" $5; code=$?; ls -A \"$2\"; exit $code";
        Shell.Result result = Shell.bare(folder).run("unshare", "--mount", "bash", "-c", script, "bash", options, given.toString(),
                Shell.ROOT + "/kinema", output, others.stream().map(option -> option + " " + given + "/other" + option).collect(Collectors.joining(" ")));
        assumeTrue(result.exit() != 77 && !result.err().startsWith("unshare:"), "needs the right to mount: " + result.err());
        return result;
    }

    private void refusedPicture(Path picture) {
        refused(generate("A red circle", "--image", picture.toString()), picture.getFileName().toString());
        refused(generate("A red circle", "--last-image", picture.toString()), picture.getFileName().toString());
    }

    private Shell.Result generate(String prompt, String... options) {
        List<String> arguments = new ArrayList<>(List.of("generate", prompt, "--output", "clip.mp4"));
        arguments.addAll(List.of(options));
        return Shell.bare(folder).kinema(arguments.toArray(String[]::new));
    }

    private void refused(Shell.Result result, String says) {
        assertThat(result.exit()).as(result.err()).isEqualTo(2);
        assertThat(result.errors()).singleElement().asString().startsWith("kinema generate: ").contains(says);
        assertThat(folder).isEmptyDirectory();
    }

    private Path copyOfTheModel() throws IOException {
        Path copy = given.resolve("model");
        try (Stream<Path> files = Files.walk(MODEL)) {
            for (Path file : files.filter(file -> !file.startsWith(MODEL.resolve("previews"))).toList()) {
                Files.copy(file, copy.resolve(MODEL.relativize(file).toString()));
            }
        }
        return copy;
    }

    /** A PNG signature and header that promise a picture of this size, without the picture. */
    private Path pngHeader(String name, int width, int height) throws IOException {
        ByteBuffer png = ByteBuffer.allocate(33).putLong(0x89504E470D0A1A0AL).putInt(13);
        png.put("IHDR".getBytes()).putInt(width).putInt(height).put(new byte[] {8, 2, 0, 0, 0});
        CRC32 sum = new CRC32();
        sum.update(png.array(), 12, 17);
        return Files.write(given.resolve(name), png.putInt((int) sum.getValue()).array());
    }
}
