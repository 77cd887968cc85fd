package io.kinema.engine.forecast;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.Device;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.RankOptions;
import io.kinema.engine.Task;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.pipeline.Backends;
import io.kinema.engine.plan.LayerRules;
import io.kinema.engine.plan.MediaHeaders;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.ResolvedAdapter;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.prompt.H3Tokenizer;
import io.kinema.engine.record.AdapterWork;
import io.kinema.engine.record.HostFacts;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.UsefulWork;
import io.kinema.engine.schedule.RowTimesteps;
import io.kinema.engine.ResidencyOptions;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Plans resolved requests on one model and device.
 *
 * @param folder      the model
 * @param transformer weights used in place of the folder's own
 * @param transformerLayout of those weights, where their names leave it open
 * @param device      as {@link Backends} knows it
 * @param threads     of the device
 * @param ranks       that share the model
 * @param backend     what a device other than the CPU is told
 * @param precision   plan of the transformer and the text encoder
 * @param fp16WeightLayout in which order the transformer's FP16 matrices lie; empty in plans that have none
 * @param offload     what is kept on the device at a time; empty keeps all
 * @param residency   where weights live on the host, and limits
 */
public record Planner(ModelFolder folder, Optional<Path> transformer, Optional<WeightLayout> transformerLayout, String device, OptionalInt threads,
                      RankOptions ranks, BackendOptions backend, Precision precision, Optional<MatrixLayout> fp16WeightLayout,
                      Optional<WeightResidency> offload, ResidencyOptions residency) {
    private static final double PROBE_SECONDS = 0.15;

    /**
     * Plans a request.
     *
     * @param request  resolved against this model
     * @param pictures sizes of the pictures it names
     * @param headers  headers of its videos and sounds
     * @param rates    what this machine measured before
     * @throws io.kinema.weights.BadWeightsException when a network's files are missing or broken
     * @throws io.kinema.engine.BadRequestException  when there is no such device, or the text encoder cannot look at a reference
     */
    public RunPlan plan(ResolvedRequest request, PictureSizes pictures, MediaHeaders headers, Rates rates) {
        Backends.group(device, ranks, threads, backend);
        ModelSizes sizes = sizes(request);
        Sequence sequence = sequence(request, sizes, pictures, headers);
        Steps steps = Steps.of(request, sequence.layout());
        UsefulWork work = UsefulWork.of(sizes.dit());
        AdapterWork adapters = request.adapters().stream().filter(ResolvedAdapter::active).map(ResolvedAdapter::work).reduce(AdapterWork.NONE, AdapterWork::plus);
        UsefulWork.Rows rows = sequence.rows();
        long preparation = work.preparation(rows, steps.timesteps()) + adapters.preparation(rows, steps.timesteps(), ranks.tensorParallel());
        long loop = request.steps() * (work.step(rows) + adapters.step(rows, ranks.tensorParallel()));
        RunRecord.Execution execution = new RunRecord.Execution(placed(device), backendName(device), precision.label(),
                ranks.tensorParallel() * (device.equals("cpu") ? Backends.threadsOfRank(threads, ranks) : 1), ranks, fp16WeightLayout, choices(sizes));
        Component component = Component.transformerOf(request.task());
        String name = transformer.map(p -> String.valueOf(p.getFileName())).orElse(component.key());
        String modelName = String.valueOf(folder.root().getFileName());
        TimeForecast time = new TimeForecast(rates, Rates.way(HostFacts.here().processor(), new RunRecord.Model(modelName, name, "", "", List.of()), execution),
                sequence.rows(), preparation + loop, request.outputs());
        OptionalDouble probed = time.measured() || !device.equals("cpu") ? OptionalDouble.empty() : probe(Backends.opener(device, threads, backend));
        Optional<ResidualForecast> residual = residual(sizes, sequence);
        MemoryForecast memory = new MemoryForecast(sizes, precision, request, sequence, steps.timesteps(), ranks.tensorParallel(), residual);
        ResidencyForecast weights = residency(sizes, memory);
        return new RunPlan(request, modelName, name, sizes.weightBytes(), sizes.ditWeights().encodings().names(), execution,
                ReferenceLabels.of(request), sequence.rows(), preparation + loop * request.outputs(), memory.stages(), memory.scratchByNetwork(),
                budget().choose(weights, offload, residency.residentLayers()), weights.all(),
                time.stages(probed), probed, residual);
    }

    /** What a run would choose, as far as it can be known before. */
    private SortedMap<String, String> choices(ModelSizes sizes) {
        SortedMap<String, String> choices = new TreeMap<>();
        if (ranks.tensorParallel() > 1) {
            choices.put("text_encoder_ranks", "" + sizes.text().text().ranksOf(ranks.tensorParallel()));
        }
        return choices;
    }

    /**
     * How weights will be kept; loads nothing.
     *
     * @throws io.kinema.engine.BadRequestException when that does not fit the limits; it says what would
     */
    public RunPlan.Residency residency(ResolvedRequest request, PictureSizes pictures, MediaHeaders headers) {
        ModelSizes sizes = sizes(request);
        Sequence sequence = sequence(request, sizes, pictures, headers);
        MemoryForecast memory = new MemoryForecast(sizes, precision, request, sequence, Steps.of(request, sequence.layout()).timesteps(),
                ranks.tensorParallel(), residual(sizes, sequence));
        return budget().choose(residency(sizes, memory), offload, residency.residentLayers());
    }

    private Optional<ResidualForecast> residual(ModelSizes sizes, Sequence sequence) {
        return ResidualForecast.of(ranks, Math.toIntExact(sequence.rows().all()), sizes.dit().hidden());
    }

    /**
     * Checks all that no request can change, from configs and headers.
     *
     * @throws io.kinema.weights.BadWeightsException when a network's files are missing or broken, or not for this task
     * @throws io.kinema.engine.BadRequestException  when there is no such device, or the transformer is not one that can be run so
     */
    public void check(Task task) {
        Backends.group(device, ranks, threads, backend);
        sizes(task);
    }

    private ModelSizes sizes(ResolvedRequest request) {
        return sizes(request.task());
    }

    private ModelSizes sizes(Task task) {
        ModelSizes sizes = ModelSizes.read(folder, task, transformer, transformerLayout, precision, fp16WeightLayout.orElse(MatrixLayout.ROW), ranks.tensorParallel());
        LayerRules.require(residency.residentLayers().orElse(0), sizes.dit());
        return sizes;
    }

    private Sequence sequence(ResolvedRequest request, ModelSizes sizes, PictureSizes pictures, MediaHeaders headers) {
        try (H3Tokenizer tokenizer = H3Tokenizer.open(folder.folder(Component.TOKENIZER))) {
            return new SequenceBuilder(request, folder.geometry(), sizes, pictures, headers).build(tokenizer);
        }
    }

    private MemoryBudget budget() {
        return new MemoryBudget(backend.maxMemoryBytes(), residency.maxHostMemory());
    }

    private ResidencyForecast residency(ModelSizes sizes, MemoryForecast memory) {
        boolean onDevice = !placed(device).equals(Device.CPU.toString());
        long audio = (onDevice ? 3 : 2) * sizes.audioWeights().bytes();
        return new ResidencyForecast(sizes.ditBytes().over(ranks.tensorParallel()), sizes.textBytes().over(sizes.text().text().ranksOf(ranks.tensorParallel())),
                onDevice ? sizes.videoWeights().bytes() : 0, audio, memory.scratchByStage(),
                memory.heap(), onDevice, residency.hostWeights());
    }

    /** Where tensors lie: {@code reference} computes on the processor too. */
    private static String placed(String device) {
        return device.equals("reference") ? Device.CPU.toString() : device.equals("cuda") ? "cuda:0" : device;
    }

    private static String backendName(String device) {
        int number = device.indexOf(':');
        return number < 0 ? device : device.substring(0, number);
    }

    private static OptionalDouble probe(java.util.function.Supplier<Backend> opener) {
        try (Backend backend = opener.get()) {
            return backend instanceof CpuBackend cpu ? OptionalDouble.of(cpu.sgemmRate(PROBE_SECONDS)) : OptionalDouble.empty();
        }
    }

    /** The distinct timesteps of every evaluation. */
    private record Steps(List<float[]> distinct) {
        static Steps of(ResolvedRequest request, PackedLayout layout) {
            return new Steps(RowTimesteps.plan(layout, request.videoGrid(), request.audioGrid()).stream().map(RowTimesteps::distinct).toList());
        }

        int timesteps() {
            Set<Float> seen = new HashSet<>();
            for (float[] step : distinct) {
                for (float t : step) {
                    seen.add(t);
                }
            }
            return seen.size();
        }
    }
}
