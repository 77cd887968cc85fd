package io.kinema.engine.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Geometries;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.media.MediaKind.Role;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.pipeline.ConditionMedia;
import io.kinema.engine.pipeline.MediaLoader;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.PixelSize;
import io.kinema.engine.preprocess.ReferenceImages;
import io.kinema.media.BadMediaException;
import io.kinema.media.image.ImageHeader;
import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.VideoReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Makes a file of every kind that people bring and writes what becomes of it to target/requests-media*.md, which must be the
 * tables in docs/evidence. A video must come to round(duration * 24) frames within one (field report 5), a sound to its duration.
 */
class MediaTableTest {
    private static final Path COMMITTED = GoldenCase.root().resolve("docs/evidence/requests-media.md");
    private static final ModelGeometry RELEASED = Geometries.released();
    private static final ModelGeometry SMALL = Geometries.nano();
    private static final int FRAMES = 345;
    private static final String REAL = "## Real clips";
    /** A sound is never alone. */
    private static final String BESIDE = "png-rgb24.png";

    @TempDir
    Path folder;

    private final List<String> faults = new ArrayList<>();

    @Test
    void report05EveryKindOfFileIsReadAsTheTableSays() throws IOException {
        assumeTrue(FfmpegCommand.isInstalled(), "no ffmpeg here, which makes the files");
        String table = Files.readString(COMMITTED);
        int first = table.indexOf("## ");
        check("requests-media.md", table.substring(first, table.indexOf(REAL)), MediaKinds.all());
    }

    @Test
    @Tag("long")
    void clipsThatH3MadeAreReadAsTheTableSays() throws IOException {
        Optional<Path> clips = GoldenCase.full().map(goldens -> goldens.resolveSibling("media")).filter(Files::isDirectory);
        assumeTrue(clips.isPresent(), "the real clips are not on this machine");
        PngWriter.write(RgbImage.black(144, 96), folder.resolve(BESIDE));
        String table = Files.readString(COMMITTED);
        check("requests-media-real.md", table.substring(table.indexOf(REAL)), MediaKinds.real(clips.get()));
    }

    private void check(String name, String committed, List<MediaKind> kinds) throws IOException {
        StringBuilder table = new StringBuilder();
        String section = "";
        for (MediaKind kind : kinds) {
            if (!kind.section().equals(section)) {
                section = kind.section();
                table.append(table.isEmpty() ? "" : "\n").append("## ").append(section)
                        .append("\n\n| file | what it is | | what the model sees, or the line printed |\n| --- | --- | --- | --- |\n");
            }
            table.append(row(kind)).append("\n");
        }
        Files.writeString(Files.createDirectories(GoldenCase.root().resolve("engine/target")).resolve(name), table);
        assertThat(faults).isEmpty();
        assertThat(table.toString().strip()).isEqualTo(committed.strip());
    }

    private String row(MediaKind kind) throws IOException {
        Path file = folder.resolve(kind.name());
        kind.maker().write(file);
        String outcome;
        try {
            outcome = "accepted | " + switch (kind.role()) {
                case PICTURE -> picture(file);
                case VIDEO -> video(file, kind.seconds());
                case SOUND -> sound(file, kind.seconds());
            };
        } catch (AssertionError fault) {
            faults.add(kind.name() + ": " + fault.getMessage());
            outcome = "wrong | ";
        } catch (BadMediaException | BadRequestException refusal) {
            if (!refusal.getMessage().contains(kind.name()) || refusal.getMessage().contains("\n")) {
                faults.add(kind.name() + " is not named in one line: " + refusal.getMessage());
            }
            // Where an encoder's file is cut depends on the encoder's version.
            outcome = "refused | `" + refusal.getMessage().replace(folder + "/", "").replaceAll("packet \\d+", "packet N")
                    .replaceAll("\\d+ of \\d+ (bytes|packets)", "N of M $1") + "`";
        }
        return "| `" + kind.name() + "` | " + kind.what() + " | " + outcome + " |";
    }

    /** As a keyframe and as a reference. */
    private static String picture(Path file) {
        ResolvedRequest released = new RequestResolver(RELEASED, MediaTableTest::size).resolve(GenerateRequest.prompt("x").image(file).build());
        ResolvedRequest small = new RequestResolver(SMALL, MediaTableTest::size).resolve(GenerateRequest.prompt("x").image(file).build());
        ConditionMedia.Keyframes read = (ConditionMedia.Keyframes) new MediaLoader(SMALL).load(small);
        assertThat(read.keyframes().getFirst().picture().width()).isEqualTo(small.width());
        PictureSizes.Size upright = size(file);
        PixelSize reference = ReferenceImages.size(upright.width(), upright.height(), RELEASED.referenceImageShortEdge(), RELEASED.canvasMultiple());
        return "%dx%d upright; as keyframe a canvas of %dx%d, as reference %s".formatted(upright.width(), upright.height(), released.width(),
                released.height(), reference);
    }

    private static PictureSizes.Size size(Path file) {
        ImageHeader header = ImageReader.header(file, ImageLimits.DEFAULT);
        int width = Math.toIntExact(header.width());
        int height = Math.toIntExact(header.height());
        return header.orientation().swapsSides() ? new PictureSizes.Size(height, width) : new PictureSizes.Size(width, height);
    }

    private String video(Path file, double seconds) {
        ConditionMedia.Reference.Video video = (ConditionMedia.Reference.Video) load(new Reference.Video(file, false), false);
        try (VideoReader reader = VideoReader.open(file)) {
            if (seconds > 0) {
                assertThat(Math.abs(video.frames().size() - Math.round(seconds * FrameCounts.FPS))).as("%s: %d frames", file, video.frames().size())
                        .isLessThanOrEqualTo(1);
            }
            PixelSize canvas = CanvasRule.of(RELEASED).of(reader.width(), reader.height());
            return String.format(Locale.ROOT, "%dx%d upright at %.3f fps; %d frames at 24 fps on a canvas of %s", reader.width(), reader.height(),
                    reader.frameRate(), video.frames().size(), canvas);
        }
    }

    private String sound(Path file, double seconds) {
        ConditionMedia.Reference.Audio sound = (ConditionMedia.Reference.Audio) load(new Reference.Audio(file), true);
        int samples = sound.sound().getFirst().length;
        assertThat(sound.sound()).hasSize(2);
        if (seconds > 0) {
            // Encoders of the lossy kinds fill their last block.
            assertThat(samples / (double) SMALL.sampleRate()).as(file.toString()).isBetween(seconds - 0.01, seconds + 0.1);
        }
        return String.format(Locale.ROOT, "stereo at %d Hz, %.1f s", SMALL.sampleRate(), samples / (double) SMALL.sampleRate());
    }

    private ConditionMedia.Reference load(Reference reference, boolean besideAPicture) {
        GenerateRequest.Builder request = GenerateRequest.prompt("x").frames(FRAMES).reference(reference);
        if (besideAPicture) {
            request.reference(new Reference.Image(folder.resolve(BESIDE)));
        }
        ResolvedRequest resolved = new RequestResolver(SMALL, MediaTableTest::size).resolve(request.build());
        return ((ConditionMedia.References) new MediaLoader(SMALL).load(resolved)).references().getFirst();
    }
}
