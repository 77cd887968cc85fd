package io.kinema.quality.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.quality.JsonNumbers;
import io.kinema.quality.compare.Comparison;
import io.kinema.quality.compare.Faults;
import io.kinema.quality.compare.PictureComparison;
import io.kinema.quality.compare.Side;
import io.kinema.quality.compare.SoundComparison;
import io.kinema.quality.compare.Sync;
import io.kinema.quality.compare.TensorComparison;
import io.kinema.quality.picture.FrameSeries;
import io.kinema.quality.picture.SsimWindow;
import io.kinema.quality.sound.SpectralCosine;
import io.kinema.quality.tensor.TensorDifference;
import java.util.Locale;

/** A comparison as JSON, schema {@value #SCHEMA}, which {@code compare-1.schema.json} beside this class describes. */
public final class JsonReport {
    /** Name and version of the form. */
    public static final String SCHEMA = "kinema.compare/1";

    private JsonReport() {
    }

    /**
     * The document; a number JSON cannot hold is one of the texts {@code inf}, {@code -inf}, {@code nan}.
     *
     * @param accepted whether whoever asked takes the candidate: the verdict, and what else was asked for
     */
    public static ObjectNode of(Comparison comparison, boolean accepted) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("schema", SCHEMA).put("accepted", accepted);
        root.set("candidate", side(comparison.candidate()));
        root.set("reference", side(comparison.reference()));
        root.set("verdict", comparison.verdict().toJson());
        comparison.tensors().ifPresent(tensors -> root.set("tensors", tensors(tensors)));
        comparison.pictures().ifPresent(pictures -> root.set("frames", pictures(pictures)));
        comparison.sound().ifPresent(sound -> root.set("sound", sound(sound)));
        comparison.sync().ifPresent(sync -> root.set("sync", sync(sync)));
        ArrayNode warnings = root.putArray("warnings");
        comparison.warnings().forEach(warnings::add);
        ArrayNode notes = root.putArray("notes");
        comparison.notes().forEach(notes::add);
        return root;
    }

    private static ObjectNode node() {
        return JsonNodeFactory.instance.objectNode();
    }

    private static ObjectNode side(Side side) {
        ObjectNode node = node().put("given", side.given().toString());
        side.clip().ifPresent(file -> node.put("clip", file.toString()));
        side.record().ifPresent(file -> node.put("record", file.toString()));
        side.tensors().ifPresent(file -> node.put("tensors", file.toString()));
        side.sound().ifPresent(file -> node.put("sound", file.toString()));
        return side.frames().isEmpty() ? node : node.put("pictures", side.frames().size());
    }

    private static ObjectNode tensors(TensorComparison tensors) {
        ObjectNode node = node().put("candidate_source", tensors.candidateSource()).put("reference_source", tensors.referenceSource())
                .put("bitwise", tensors.differing() == 0);
        ArrayNode list = node.putArray("tensors");
        for (TensorDifference t : tensors.tensors()) {
            ObjectNode one = list.addObject().put("name", t.name());
            ArrayNode shape = one.putArray("shape");
            for (long size : t.shape().toArray()) {
                shape.add(size);
            }
            one.put("bitwise", t.bitwise()).put("differing", t.differing());
            JsonNumbers.put(one, "relative_l2", t.relativeL2());
            JsonNumbers.put(one, "max_abs", t.maxAbs());
            one.put("candidate_non_finite", t.candidateNonFinite()).put("reference_non_finite", t.referenceNonFinite());
        }
        return node;
    }

    private static ObjectNode pictures(PictureComparison pictures) {
        ObjectNode node = node().put("candidate_source", pictures.candidateSource()).put("reference_source", pictures.referenceSource())
                .put("width", pictures.width()).put("height", pictures.height()).put("frames", pictures.metrics().frames())
                .put("bitwise", pictures.metrics().differing() == 0).put("differing", pictures.metrics().differing());
        pictures.rate().ifPresent(rate -> node.put("frames_per_second", rate));
        pictures.metrics().psnr().ifPresent(psnr -> series(node.putObject("psnr"), "RGB, MSE over all frames", "overall", psnr, pictures.metrics().psnrByFrame()));
        pictures.metrics().ssim().ifPresent(ssim -> series(node.putObject("ssim"), "Wang 2004, " + SsimWindow.GAUSSIAN_11.name() + ", mean of R, G and B", "mean", ssim, pictures.metrics().ssimByFrame()));
        node.set("candidate", faults(pictures.candidate()));
        node.set("reference", faults(pictures.reference()));
        return node;
    }

    private static void series(ObjectNode node, String definition, String name, double value, FrameSeries series) {
        node.put("definition", definition);
        JsonNumbers.put(node, name, value);
        JsonNumbers.put(node, "worst", series.get(series.worst()));
        node.put("worst_frame", series.worst());
        ArrayNode values = node.putArray("by_frame");
        for (double one : series.toArray()) {
            JsonNumbers.add(values, one);
        }
    }

    private static ObjectNode faults(Faults.Pictures faults) {
        ObjectNode node = node().put("seam_score", faults.seamScore()).put("constant", faults.constant());
        ArrayNode seams = node.putArray("seams");
        faults.seams().forEach(s -> seams.addObject().put("axis", s.axis().name().toLowerCase(Locale.ROOT)).put("position", s.position()).put("levels", s.levels()));
        ArrayNode flashes = node.putArray("flashes");
        faults.flashes().forEach(f -> flashes.addObject().put("frame", f.frame()).put("levels", f.strength()));
        ArrayNode repeats = node.putArray("repeats");
        faults.repeats().forEach(repeats::add);
        return node;
    }

    private static ObjectNode sound(SoundComparison sound) {
        ObjectNode node = node().put("candidate_source", sound.candidateSource()).put("reference_source", sound.referenceSource())
                .put("sample_rate", sound.referenceSound().sampleRate()).put("channels", sound.referenceSound().channelCount()).put("samples", sound.referenceSound().length())
                .put("bitwise", sound.differing() == 0).put("differing", sound.differing());
        ObjectNode cosine = node.putObject("spectral_cosine").put("definition", "magnitude STFT, Hann " + SpectralCosine.WINDOW + ", hop " + SpectralCosine.HOP);
        JsonNumbers.put(cosine, "value", sound.cosine());
        ObjectNode rms = node.putObject("rms_ratio");
        JsonNumbers.put(rms, "joint", sound.rms().joint());
        ArrayNode channels = rms.putArray("channels");
        sound.rms().channels().forEach(ratio -> JsonNumbers.add(channels, ratio));
        node.set("candidate", faults(sound.candidate()));
        node.set("reference", faults(sound.reference()));
        return node;
    }

    private static ObjectNode faults(Faults.Sound faults) {
        ObjectNode node = node().put("peak", faults.levels().peak());
        JsonNumbers.put(node, "rms_db", faults.levels().rmsDb());
        node.put("full_scale_samples", faults.levels().fullScale()).put("full_scale_share", faults.levels().fullScaleShare())
                .put("clipped", faults.levels().clipped()).put("non_finite", faults.levels().nonFinite());
        ArrayNode clicks = node.putArray("clicks");
        faults.clicks().forEach(c -> clicks.addObject().put("channel", c.channel()).put("sample", c.sample()).put("jump", c.jump()));
        return node;
    }

    private static ObjectNode sync(Sync sync) {
        ObjectNode node = node();
        sync.worstDrift().ifPresent(drift -> node.put("drift_ms", drift));
        sync.candidateEnd().ifPresent(end -> node.put("candidate_sound_end_ms", end));
        sync.referenceEnd().ifPresent(end -> node.put("reference_sound_end_ms", end));
        ArrayNode points = node.putArray("points");
        for (Sync.Point point : sync.points()) {
            ObjectNode one = points.addObject().put("from_seconds", point.from()).put("to_seconds", point.to());
            point.soundLag().ifPresent(lag -> one.put("sound_lag_ms", lag));
            point.correlation().ifPresent(correlation -> one.put("correlation", correlation));
            point.frames().ifPresent(frames -> one.put("picture_lag_frames", frames));
            one.put("picture_lag_ms", point.pictureLag());
            point.drift().ifPresent(drift -> one.put("drift_ms", drift));
        }
        return node;
    }
}
