package io.kinema.cli;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.AspectRatio;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.NoiseScheme;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.model.adapter.Alpha;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import picocli.CommandLine.Option;

/** The options that say what to make. */
final class RequestOptions {
    @Option(names = "--task", paramLabel = "t2va|fl2va|ref2va", description = "What the clip is made from; inferred when left out.")
    private Optional<String> task = Optional.empty();

    @Option(names = "--image", paramLabel = "FILE", description = "First frame: PNG, JPEG, WebP or HEIC.")
    private Optional<Path> image = Optional.empty();

    @Option(names = "--last-image", paramLabel = "FILE", description = "Last frame: PNG, JPEG, WebP or HEIC.")
    private Optional<Path> lastImage = Optional.empty();

    @Option(names = "--reference", paramLabel = "KIND:FILE", description = "Something the clip should resemble, in the order given: image:, video:, "
            + "video+sound: (with its soundtrack), audio:, or latents: and latents+sound: of an earlier clip.")
    private List<String> references = List.of();

    @Option(names = "--width", paramLabel = "W", description = "Pixels, a multiple of 32; together with --height.")
    private Optional<Integer> width = Optional.empty();

    @Option(names = "--height", paramLabel = "H", description = "Pixels, a multiple of 32; together with --width.")
    private Optional<Integer> height = Optional.empty();

    @Option(names = "--aspect-ratio", paramLabel = "A:B", description = "Shape of the picture when no size is given.")
    private Optional<String> aspectRatio = Optional.empty();

    @Option(names = "--frames", paramLabel = "N", description = "Frames at 24 a second, snapped up to 17n+5 from 22.")
    private Optional<Integer> frames = Optional.empty();

    @Option(names = "--seconds", paramLabel = "S", description = "Length, instead of --frames.")
    private Optional<Double> seconds = Optional.empty();

    @Option(names = "--steps", paramLabel = "N", description = "Model evaluations (the schedule's grid has N+1 points).")
    private Optional<Integer> steps = Optional.empty();

    @Option(names = "--seed", paramLabel = "N", description = "Same seed, same bytes. 0 when left out; only the low 32 bits count, as with PyTorch's CPU generator.")
    private Optional<Long> seed = Optional.empty();

    @Option(names = "--outputs", paramLabel = "N", description = "Clips to make, 1 to 10: clip-0.mp4 with the seed, clip-1.mp4 with seed+1, ...")
    private Optional<Integer> outputs = Optional.empty();

    @Option(names = "--flow-shift", paramLabel = "X", description = "Shift of the video's schedule; the model's own when left out.")
    private Optional<Double> flowShift = Optional.empty();

    @Option(names = "--audio-flow-shift", paramLabel = "X",
            description = "Shift of the sound's schedule; the model's own when left out.")
    private Optional<Double> audioFlowShift = Optional.empty();

    @Option(names = "--noise-scheme", paramLabel = "diffusers|onecat",
            description = "Order in which noise is drawn from the seed (default: diffusers).")
    private Optional<String> noiseScheme = Optional.empty();

    @Option(names = "--adapter", paramLabel = "FILE[:SCALE]", description = "Adapter on the transformer; may be given more than once.")
    private List<String> adapters = List.of();

    @Option(names = "--adapter-alpha", paramLabel = "A|rank",
            description = "Alpha of an adapter that is not known and does not state it.")
    private Optional<String> adapterAlpha = Optional.empty();

    @Option(names = "--strict", description = "Refuse values that would be snapped.")
    private boolean strict;

    /** @throws BadRequestException when a value has no meaning at all; the engine checks the rest against the model */
    GenerateRequest request(String prompt) {
        GenerateRequest.Builder request = GenerateRequest.prompt(prompt).strict(strict);
        task.map(RequestOptions::task).ifPresent(set(request::task));
        image.ifPresent(set(request::image));
        lastImage.ifPresent(set(request::lastImage));
        references.stream().map(Reference::parse).forEach(request::reference);
        outputs.ifPresent(request::outputs);
        width.ifPresent(set(request::width));
        height.ifPresent(set(request::height));
        aspectRatio.map(AspectRatio::parse).ifPresent(set(request::aspectRatio));
        frames.ifPresent(set(request::frames));
        seconds.ifPresent(set(request::seconds));
        steps.ifPresent(set(request::steps));
        seed.ifPresent(set(request::seed));
        flowShift.ifPresent(set(request::flowShift));
        audioFlowShift.ifPresent(set(request::audioFlowShift));
        noiseScheme.map(RequestOptions::noiseScheme).ifPresent(set(request::noiseScheme));
        if (adapterAlpha.isPresent() && adapters.isEmpty()) {
            throw new BadRequestException("adapterAlpha", adapterAlpha.get() + " without an adapter", "expected --adapter with it; leave it out");
        }
        adapters.stream().map(AdapterUse::parse).map(this::withAlpha).forEach(request::adapter);
        return request.build();
    }

    private AdapterUse withAlpha(AdapterUse use) {
        return adapterAlpha.map(text -> use.withAlpha(Alpha.parse(text)
                .orElseThrow(() -> new BadRequestException("adapterAlpha", "'" + text + "'", "expected a number above 0, or rank")))).orElse(use);
    }

    private static <T> Consumer<T> set(Function<T, GenerateRequest.Builder> setter) {
        return setter::apply;
    }

    private static Task task(String label) {
        return Task.labelled(label)
                .orElseThrow(() -> new BadRequestException("task", "'" + label + "'", "expected t2va, fl2va or ref2va"));
    }

    private static NoiseScheme noiseScheme(String label) {
        return NoiseScheme.labelled(label)
                .orElseThrow(() -> new BadRequestException("noiseScheme", "'" + label + "'", "expected diffusers or onecat"));
    }
}
