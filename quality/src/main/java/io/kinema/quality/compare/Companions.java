package io.kinema.quality.compare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kinema.media.container.HeaderReader;
import io.kinema.media.container.MediaHeader;
import io.kinema.media.image.ImageHeader;
import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;
import io.kinema.weights.SafetensorsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What was saved beside a clip before it was encoded: run record, latents, WAV and folder of frames.
 *
 * <p>Files that share the clip's stem belong to it; in a folder with one clip, so do the only ones of their kind. Each is used only if
 * it fits: latents by the record's seed and model, the WAV by its length, frames by size and number. What does not fit is left out,
 * and a note says so, since a stale neighbour would compare the wrong thing.
 */
final class Companions {
    private static final double LENGTH_TOLERANCE = 0.1;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path clip;
    private final MediaHeader header;
    private final boolean alone;
    private final String stem;
    private final List<String> notes = new ArrayList<>();

    private Companions(Path clip, MediaHeader header, boolean alone) {
        this.clip = clip;
        this.header = header;
        this.alone = alone;
        String name = clip.getFileName().toString();
        this.stem = name.substring(0, Math.max(1, name.lastIndexOf('.')));
    }

    /** @param alone whether the clip is the only one of a folder of results */
    static Companions of(Path clip, MediaHeader header, boolean alone) {
        return new Companions(clip, header, alone);
    }

    /** The side with all companions that fit. */
    Side join(Side side) {
        Optional<Path> record = Optional.of(clip.resolveSibling(stem + ".json")).filter(Files::isRegularFile).filter(file -> record(file).isPresent());
        JsonNode run = record.flatMap(Companions::record).orElse(MissingNode.getInstance());
        Side joined = record.map(side::withRecord).orElse(side);
        joined = candidate(".safetensors").filter(file -> latentsFit(file, run)).map(joined::withTensors).orElse(joined);
        joined = candidate(".wav").filter(this::soundFits).map(joined::withSound).orElse(joined);
        joined = frames().filter(this::framesFit).map(SideFinder::pictures).map(joined::withFrames).orElse(joined);
        for (String note : notes) {
            joined = joined.noting(note);
        }
        return joined;
    }

    /** The run record in a file, if it is one. */
    static Optional<JsonNode> record(Path file) {
        try {
            JsonNode tree = Files.size(file) > 16 << 20 ? MissingNode.getInstance() : JSON.readTree(Files.readAllBytes(file));
            return Optional.of(tree).filter(node -> node.path("schema").asText().startsWith("kinema.run/"));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private Path folder() {
        return Optional.ofNullable(clip.getParent()).orElse(Path.of(""));
    }

    private Optional<Path> candidate(String suffix) {
        Path named = clip.resolveSibling(stem + suffix);
        if (Files.isRegularFile(named) || !alone) {
            return Optional.of(named).filter(Files::isRegularFile);
        }
        List<Path> others = SideFinder.files(folder()).stream().filter(f -> f.getFileName().toString().endsWith(suffix)).toList();
        return others.size() == 1 ? Optional.of(others.getFirst()) : Optional.empty();
    }

    private Optional<Path> frames() {
        for (String name : List.of(stem, stem + "-frames", "frames-" + stem)) {
            Path named = clip.resolveSibling(name);
            if (Files.isDirectory(named) && !SideFinder.pictures(named).isEmpty()) {
                return Optional.of(named);
            }
        }
        List<Path> others = alone ? SideFinder.folders(folder()).stream().filter(f -> !SideFinder.pictures(f).isEmpty()).toList() : List.of();
        return others.size() == 1 ? Optional.of(others.getFirst()) : Optional.empty();
    }

    private boolean latentsFit(Path file, JsonNode run) {
        try (SafetensorsFile tensors = SafetensorsFile.open(file)) {
            String seed = tensors.metadata().getOrDefault("seed", "");
            String model = tensors.metadata().getOrDefault("model_sha256", "");
            boolean fits = run.isMissingNode() || seed.equals(run.at("/output/seed").asText()) && model.equals(run.at("/model/sha256").asText());
            return fits || leftOut(file, "its seed or model is not that of the run record");
        }
    }

    private boolean soundFits(Path file) {
        double seconds = HeaderReader.read(file, Limits.LONG).seconds();
        return Math.abs(seconds - header.seconds()) <= LENGTH_TOLERANCE
                || leftOut(file, String.format(Locale.ROOT, "it lasts %.3f s and the clip %.3f s", seconds, header.seconds()));
    }

    private boolean framesFit(Path folder) {
        List<Path> pictures = SideFinder.pictures(folder);
        MediaHeader.Video video = header.video().orElseThrow();
        ImageHeader first = ImageReader.header(pictures.getFirst(), ImageLimits.DEFAULT);
        boolean fits = pictures.size() == video.frames() && first.width() == video.width() && first.height() == video.height();
        return fits || leftOut(folder, pictures.size() + " pictures of " + first.width() + "x" + first.height() + ", the clip has "
                + video.frames() + " of " + video.width() + "x" + video.height());
    }

    private boolean leftOut(Path what, String because) {
        notes.add("left out " + what + ": " + because);
        return false;
    }
}
