package io.kinema.engine;

import io.kinema.compute.BackendOptions;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How an engine runs. Made with {@link #builder()}; {@link #defaults()} is the bundled model on the CPU.
 *
 * @param model       folder of an H3 model; the bundled one when empty
 * @param transformer a transformer folder or file used instead of the model's own
 * @param transformerLayout how its names and rows lie, for weights that leave it open
 * @param device      {@code cpu}, or {@code cuda:N}
 * @param precision   precision plan of the transformer and the text encoder
 * @param threads     compute threads, 1 to 1024; the machine's cores when empty
 * @param backend     what a device other than the CPU is told
 * @param fp16WeightLayout in which order the transformer's FP16 matrices lie, for the plan fp16-fp32res alone; row when empty
 * @param weightOffload    keep one network at a time on the device, whole or one layer of it; empty keeps all
 * @param residency        where weights live on the host, and limits
 * @param vaePrecision     plan of the video decoder's products
 * @param ranks           how the model is spread over several devices
 * @param graphReplay      whether a GPU records evaluations after the first and replays them; on when empty
 * @param route       why somebody else chose these options for the caller, for the run record; empty otherwise
 */
public record EngineOptions(Optional<Path> model, Optional<Path> transformer, Optional<WeightLayout> transformerLayout, String device,
                            Precision precision, OptionalInt threads, BackendOptions backend, Optional<MatrixLayout> fp16WeightLayout,
                            Optional<WeightResidency> weightOffload, ResidencyOptions residency, Precision vaePrecision, RankOptions ranks, Optional<GraphReplay> graphReplay,
                            Optional<String> route) {
    /** Most threads an engine takes. */
    public static final int MAX_THREADS = 1024;

    public EngineOptions {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(transformer, "transformer");
        Objects.requireNonNull(transformerLayout, "transformerLayout");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(precision, "precision");
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(weightOffload, "weightOffload");
        Objects.requireNonNull(vaePrecision, "vaePrecision");
        Objects.requireNonNull(graphReplay, "graphReplay");
        Objects.requireNonNull(ranks, "ranks");
        Objects.requireNonNull(residency, "residency");
        HostDevices.require(device, backend);
        HostDevices.require(device, residency.hostWeights());
        HostDevices.require(device, graphReplay);
        residency.requireOffload(weightOffload);
        if (threads.isPresent() && (threads.getAsInt() < 1 || threads.getAsInt() > MAX_THREADS)) {
            throw new BadRequestException("threads", "" + threads.getAsInt(), "expected 1 to " + MAX_THREADS);
        }
        if (fp16WeightLayout.isPresent() && precision != Precision.FP16_FP32RES) {
            throw new BadRequestException("fp16WeightLayout", fp16WeightLayout.get().label(), "expected no layout with precision "
                    + precision.label() + ", whose weights are not FP16; add --precision " + Precision.FP16_FP32RES.label());
        }
    }

    /** The order in which the transformer's FP16 matrices will lie; empty in plans that have none. */
    public Optional<MatrixLayout> fp16WeightLayoutInForce() {
        return precision == Precision.FP16_FP32RES ? Optional.of(fp16WeightLayout.orElse(MatrixLayout.ROW)) : Optional.empty();
    }

    /** Whether evaluations are replayed where the device can. */
    public GraphReplay graphReplayInForce() {
        return graphReplay.orElse(GraphReplay.ON);
    }

    /** The bundled model, on the CPU, in fp32, with a thread for each core. */
    public static EngineOptions defaults() {
        return builder().build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The same options, and why somebody chose them. */
    public EngineOptions chosenBecause(String reason) {
        return new EngineOptions(model, transformer, transformerLayout, device, precision, threads, backend, fp16WeightLayout, weightOffload, residency, vaePrecision,
                ranks, graphReplay, Optional.of(reason));
    }

    /** Collects options; one thread. */
    public static final class Builder {
        private Optional<Path> model = Optional.empty();
        private Optional<Path> transformer = Optional.empty();
        private Optional<WeightLayout> transformerLayout = Optional.empty();
        private String device = "cpu";
        private Precision precision = Precision.FP32;
        private OptionalInt threads = OptionalInt.empty();
        private Optional<MatrixLayout> fp16WeightLayout = Optional.empty();
        private Optional<WeightResidency> weightOffload = Optional.empty();
        private ResidencyOptions residency = ResidencyOptions.DEFAULTS;
        private Precision vaePrecision = Precision.FP32;
        private Optional<GraphReplay> graphReplay = Optional.empty();
        private BackendOptions backend = BackendOptions.DEFAULTS;
        private RankOptions ranks = RankOptions.DEFAULTS;

        private Builder() {
        }

        public Builder model(Path folder) {
            model = Optional.of(folder);
            return this;
        }

        public Builder transformer(Path folderOrFile) {
            transformer = Optional.of(folderOrFile);
            return this;
        }

        public Builder transformerLayout(WeightLayout value) {
            transformerLayout = Optional.of(value);
            return this;
        }

        public Builder device(String value) {
            device = Objects.requireNonNull(value, "device");
            return this;
        }

        public Builder precision(Precision value) {
            precision = Objects.requireNonNull(value, "precision");
            return this;
        }

        public Builder threads(int value) {
            threads = OptionalInt.of(value);
            return this;
        }

        /** The plan of the video decoder's products; FP32 unless it is called. */
        public Builder vaePrecision(Precision value) {
            vaePrecision = Objects.requireNonNull(value, "vaePrecision");
            return this;
        }

        /** Whether a GPU replays evaluations; on unless it is called. */
        public Builder graphReplay(GraphReplay value) {
            graphReplay = Optional.of(value);
            return this;
        }

        /** One network at a time on the device, whole or one layer of it. */
        public Builder weightOffload(WeightResidency value) {
            weightOffload = Optional.of(value);
            return this;
        }

        /** How the model is spread over several devices; one rank unless it is called. */
        public Builder ranks(RankOptions value) {
            ranks = Objects.requireNonNull(value, "ranks");
            return this;
        }

        /** Where weights live on the host, and limits. */
        public Builder residency(ResidencyOptions value) {
            residency = Objects.requireNonNull(value, "residency");
            return this;
        }

        public Builder fp16WeightLayout(MatrixLayout value) {
            fp16WeightLayout = Optional.of(value);
            return this;
        }

        /** What a device other than the CPU is told. */
        public Builder backend(BackendOptions value) {
            backend = Objects.requireNonNull(value, "backend");
            return this;
        }

        public EngineOptions build() {
            return new EngineOptions(model, transformer, transformerLayout, device, precision, threads, backend, fp16WeightLayout, weightOffload, residency, vaePrecision,
                    ranks, graphReplay, Optional.empty());
        }
    }
}
