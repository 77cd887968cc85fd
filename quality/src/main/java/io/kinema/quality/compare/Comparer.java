package io.kinema.quality.compare;

import io.kinema.media.BadMediaException;
import io.kinema.quality.Gate;
import io.kinema.quality.tensor.TensorDifference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Compares two results: clips of Kinema's with what was saved beside them, any videos, sounds, folders of pictures, or safetensors
 * files. Frames are compared before encoding where both sides have them, else as decoded on both sides; sound likewise; latents
 * where both have them. Frames are read as a stream; sounds are held in memory.
 */
public final class Comparer {
    private final ComparisonOptions options;
    private final Differences differences;
    private final IntConsumer framesDone;

    private Comparer(ComparisonOptions options, IntConsumer framesDone) {
        this.options = options;
        this.framesDone = framesDone;
        this.differences = new Differences(options.common());
    }

    /**
     * Compares a candidate with its reference.
     *
     * @throws BadMediaException when a path holds nothing that can be compared, is damaged, or the two are not alike
     * @throws io.kinema.weights.BadWeightsException when a safetensors file is damaged or has no tensor in common with the other
     */
    public static Comparison compare(Path candidate, Path reference, ComparisonOptions options) {
        return compare(candidate, reference, options, frames -> { });
    }

    /** {@link #compare(Path, Path, ComparisonOptions)} that tells on the calling thread, after each pair of frames, how many are done. */
    public static Comparison compare(Path candidate, Path reference, ComparisonOptions options, IntConsumer framesDone) {
        return new Comparer(options, framesDone).compare(SideFinder.find(candidate, options.encoded()), SideFinder.find(reference, options.encoded()));
    }

    private Comparison compare(Side a, Side b) {
        a.notes().forEach(note -> differences.note("candidate: " + note));
        b.notes().forEach(note -> differences.note("reference: " + note));
        Optional<TensorComparison> tensors = a.tensors().isPresent() && b.tensors().isPresent()
                ? Optional.of(TensorComparer.compare(a.tensors().get(), b.tensors().get(), differences)) : Optional.empty();
        noteOneSided(a.tensors().isPresent(), b.tensors().isPresent(), "latents");
        Optional<PictureComparison> pictures = pictures(a, b);
        Heard heard = hear(a, b);
        if (tensors.isEmpty() && pictures.isEmpty() && heard.comparison().isEmpty()) {
            throw new BadMediaException("'" + a.given() + "' and '" + b.given() + "' have nothing of a kind: give two videos, two sounds, two folders of frames or two safetensors files.");
        }
        Optional<Sync> sync = heard.comparison().map(sound -> SyncFinder.find(pictures, sound, heard.candidate(), heard.reference()));
        Comparison measured = new Comparison(a, b, tensors, pictures, heard.comparison(), sync, differences.notes(), List.of(),
                options.gates().judge(numbers(tensors, pictures, heard.comparison())));
        return new Comparison(a, b, tensors, pictures, heard.comparison(), sync, differences.notes(), Warnings.of(measured), measured.verdict());
    }

    private Optional<PictureComparison> pictures(Side a, Side b) {
        if (!a.hasPictures() || !b.hasPictures()) {
            refuseMissing(a.hasPictures(), b.hasPictures(), "pictures");
            return Optional.empty();
        }
        boolean raw = !a.frames().isEmpty() && !b.frames().isEmpty();
        boolean decoded = !raw && a.clip().isPresent() && b.clip().isPresent();
        PictureInput x = decoded || a.frames().isEmpty() ? PictureInput.ofVideo(a.clip().orElseThrow()) : PictureInput.ofPictures(a.frames(), a.clip());
        PictureInput y = decoded || b.frames().isEmpty() ? PictureInput.ofVideo(b.clip().orElseThrow()) : PictureInput.ofPictures(b.frames(), b.clip());
        if (x.lossy() || y.lossy()) {
            differences.note("frames were decoded from a lossy codec; the gates are meant for frames before encoding (--frames-dir saves them)");
        }
        try (PictureComparer comparer = new PictureComparer(options, differences, framesDone)) {
            return Optional.of(comparer.compare(x, y));
        }
    }

    /** Sound as compared, and when each whole sound is heard. */
    private record Heard(Optional<SoundComparison> comparison, Span candidate, Span reference) {
    }

    private Heard hear(Side a, Side b) {
        boolean raw = a.sound().isPresent() && b.sound().isPresent();
        boolean decoded = !raw && a.clip().isPresent() && b.clip().isPresent();
        Optional<SoundInput> x = (decoded ? a.clip() : a.sound().or(a::clip)).flatMap(file -> SoundInput.of(file, a.clip()));
        Optional<SoundInput> y = (decoded ? b.clip() : b.sound().or(b::clip)).flatMap(file -> SoundInput.of(file, b.clip()));
        if (x.isEmpty() || y.isEmpty()) {
            refuseMissing(x.isPresent(), y.isPresent(), "sound");
            return new Heard(Optional.empty(), new Span(0, 0), new Span(0, 0));
        }
        if (x.get().lossy() || y.get().lossy()) {
            differences.note("sound was decoded from a lossy codec (--wav saves it before)");
        }
        return new Heard(Optional.of(SoundComparer.compare(x.get(), y.get(), differences)), x.get().span(), y.get().span());
    }

    private void refuseMissing(boolean candidate, boolean reference, String what) {
        if (candidate != reference) {
            differences.differ("Only the " + (candidate ? "candidate" : "reference") + " has " + what, "the other parts were compared");
        }
    }

    private void noteOneSided(boolean candidate, boolean reference, String what) {
        if (candidate != reference) {
            differences.note("only the " + (candidate ? "candidate" : "reference") + " has " + what + "; they were not compared");
        }
    }

    private Map<Gate, Double> numbers(Optional<TensorComparison> tensors, Optional<PictureComparison> pictures, Optional<SoundComparison> sound) {
        Map<Gate, Double> numbers = new EnumMap<>(Gate.class);
        tensors.flatMap(t -> t.find(TensorComparison.VIDEO)).map(TensorDifference::relativeL2).ifPresent(value -> numbers.put(Gate.VIDEO_LATENTS, value));
        tensors.flatMap(t -> t.find(TensorComparison.AUDIO)).map(TensorDifference::relativeL2).ifPresent(value -> numbers.put(Gate.AUDIO_LATENTS, value));
        tensors.flatMap(TensorComparison::worstOther).ifPresent(value -> numbers.put(Gate.TENSORS, value));
        pictures.flatMap(p -> p.metrics().psnr()).ifPresent(value -> numbers.put(Gate.PSNR, value));
        pictures.flatMap(p -> p.metrics().ssim()).ifPresent(value -> numbers.put(Gate.SSIM, value));
        sound.ifPresent(s -> numbers.put(Gate.SPECTRAL_COSINE, s.cosine()));
        sound.ifPresent(s -> numbers.put(Gate.RMS_RATIO, s.rms().farthest()));
        if (options.bitwise()) {
            List<Long> differing = new ArrayList<>();
            tensors.ifPresent(t -> differing.add(t.differing()));
            pictures.ifPresent(p -> differing.add(p.metrics().differing()));
            sound.ifPresent(s -> differing.add(s.differing()));
            numbers.put(Gate.BITWISE, (double) differing.stream().mapToLong(Long::longValue).sum());
        }
        return numbers;
    }
}
