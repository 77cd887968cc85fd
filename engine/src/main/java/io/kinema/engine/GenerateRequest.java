package io.kinema.engine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What to make. Everything but the prompt may be left out; {@link H3Engine#resolve} says what is then chosen, and refuses
 * what the model cannot do. Made with {@link #prompt(String)}.
 *
 * @param prompt         what to see and hear; not blank
 * @param task           inferred from keyframes and references when empty
 * @param image          first keyframe: PNG, JPEG, WebP or HEIC
 * @param lastImage      last keyframe
 * @param references     references of a ref2va request, in order
 * @param width          pixels, a multiple of the canvas step (32); together with {@code height} or not at all
 * @param height         pixels
 * @param aspectRatio    shape of the canvas when no size is given
 * @param frames         at 24 frames a second, snapped up to 17n + 5
 * @param seconds        instead of {@code frames}
 * @param steps          model evaluations (a schedule of N evaluations has N + 1 grid points)
 * @param seed           0 to 2^63 - 1; the generator uses its low 32 bits
 * @param outputs        clips to make, 1 to 10; clip k has seed + k
 * @param flowShift      shift of the video's schedule
 * @param audioFlowShift shift of the sound's schedule
 * @param noiseScheme    order of the noise draws
 * @param strict         refuse instead of snapping
 * @param adapters       in the order in which their deltas are added
 */
public record GenerateRequest(String prompt, Optional<Task> task, Optional<Path> image, Optional<Path> lastImage,
                              List<Reference> references, OptionalInt width, OptionalInt height,
                              Optional<AspectRatio> aspectRatio, OptionalInt frames, OptionalDouble seconds,
                              OptionalInt steps, OptionalLong seed, int outputs, OptionalDouble flowShift,
                              OptionalDouble audioFlowShift, NoiseScheme noiseScheme, boolean strict,
                              List<AdapterUse> adapters) {
    public GenerateRequest {
        Objects.requireNonNull(prompt, "prompt");
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(image, "image");
        Objects.requireNonNull(lastImage, "lastImage");
        references = List.copyOf(references);
        Objects.requireNonNull(width, "width");
        Objects.requireNonNull(height, "height");
        Objects.requireNonNull(aspectRatio, "aspectRatio");
        Objects.requireNonNull(frames, "frames");
        Objects.requireNonNull(seconds, "seconds");
        Objects.requireNonNull(steps, "steps");
        Objects.requireNonNull(seed, "seed");
        Objects.requireNonNull(flowShift, "flowShift");
        Objects.requireNonNull(audioFlowShift, "audioFlowShift");
        Objects.requireNonNull(noiseScheme, "noiseScheme");
        adapters = List.copyOf(adapters);
    }

    /** A builder for this prompt. */
    public static Builder prompt(String prompt) {
        return new Builder(prompt);
    }

    /** Collects a request; one thread, reusable after {@link #build()}. */
    public static final class Builder {
        private final String prompt;
        private Optional<Task> task = Optional.empty();
        private Optional<Path> image = Optional.empty();
        private Optional<Path> lastImage = Optional.empty();
        private final List<Reference> references = new ArrayList<>();
        private OptionalInt width = OptionalInt.empty();
        private OptionalInt height = OptionalInt.empty();
        private Optional<AspectRatio> aspectRatio = Optional.empty();
        private OptionalInt frames = OptionalInt.empty();
        private OptionalDouble seconds = OptionalDouble.empty();
        private OptionalInt steps = OptionalInt.empty();
        private OptionalLong seed = OptionalLong.empty();
        private int outputs = 1;
        private OptionalDouble flowShift = OptionalDouble.empty();
        private OptionalDouble audioFlowShift = OptionalDouble.empty();
        private NoiseScheme noiseScheme = NoiseScheme.DIFFUSERS;
        private boolean strict;
        private final List<AdapterUse> adapters = new ArrayList<>();

        private Builder(String prompt) {
            this.prompt = Objects.requireNonNull(prompt, "prompt");
        }

        public Builder task(Task value) {
            task = Optional.of(value);
            return this;
        }

        public Builder image(Path value) {
            image = Optional.of(value);
            return this;
        }

        public Builder lastImage(Path value) {
            lastImage = Optional.of(value);
            return this;
        }

        /** Appends a reference. */
        public Builder reference(Reference value) {
            references.add(Objects.requireNonNull(value, "reference"));
            return this;
        }

        public Builder width(int pixels) {
            width = OptionalInt.of(pixels);
            return this;
        }

        public Builder height(int pixels) {
            height = OptionalInt.of(pixels);
            return this;
        }

        /** Width and height together. */
        public Builder size(int widthPixels, int heightPixels) {
            return width(widthPixels).height(heightPixels);
        }

        public Builder aspectRatio(AspectRatio value) {
            aspectRatio = Optional.of(value);
            return this;
        }

        public Builder frames(int value) {
            frames = OptionalInt.of(value);
            return this;
        }

        public Builder seconds(double value) {
            seconds = OptionalDouble.of(value);
            return this;
        }

        /** Model evaluations. */
        public Builder steps(int value) {
            steps = OptionalInt.of(value);
            return this;
        }

        public Builder seed(long value) {
            seed = OptionalLong.of(value);
            return this;
        }

        public Builder outputs(int value) {
            outputs = value;
            return this;
        }

        public Builder flowShift(double value) {
            flowShift = OptionalDouble.of(value);
            return this;
        }

        public Builder audioFlowShift(double value) {
            audioFlowShift = OptionalDouble.of(value);
            return this;
        }

        public Builder noiseScheme(NoiseScheme value) {
            noiseScheme = Objects.requireNonNull(value, "noiseScheme");
            return this;
        }

        /** Refuse instead of snapping. */
        public Builder strict(boolean value) {
            strict = value;
            return this;
        }

        /** Appends an adapter. */
        public Builder adapter(AdapterUse value) {
            adapters.add(Objects.requireNonNull(value, "adapter"));
            return this;
        }

        public GenerateRequest build() {
            return new GenerateRequest(prompt, task, image, lastImage, references, width, height, aspectRatio, frames, seconds,
                    steps, seed, outputs, flowShift, audioFlowShift, noiseScheme, strict, adapters);
        }
    }
}
