package io.kinema.engine.forecast;

import io.kinema.engine.Stage;
import io.kinema.engine.forecast.NetworkBytes.Bytes;
import io.kinema.engine.forecast.RunPlan.Residency;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The most memory that a request takes under every policy of weight residency: weights in the form that products read, two rooms where
 * they are staged, and each stage's intermediates. Rounded up rather than down, so that what is said to fit does.
 *
 * @param transformer its weights
 * @param text        likewise
 * @param video       bytes of the video VAE's weights where products read them
 * @param audio       likewise of the audio VAE, with the copies that folding its norms makes
 * @param scratch     that each stage has in use at most, bytes
 * @param heap        the process without weights and intermediates, bytes
 * @param device      weights and intermediates lie on a device of their own
 * @param host        what the host keeps of the weights
 */
record ResidencyForecast(NetworkBytes transformer, NetworkBytes text, long video, long audio, Map<Stage, Long> scratch, long heap, boolean device,
                         HostWeights host) {
    /** Rooms through which staged blocks pass. */
    private static final int ROOMS = 2;
    /** Fixed memory of a device's libraries and operations. */
    private static final long OPERATIONS = 96L << 20;
    /** Memory that a process with a device's driver takes for it. */
    private static final long DRIVER = 1100L << 20;
    /** A workspace on the host takes memory in steps that double up to this size; what does not fit into the rest of one lies idle there. */
    private static final long WORKSPACE_STEP = 64L << 20;
    /** Blocks of a pool, and chunks of a workspace, are larger than what is asked of them. */
    private static final double SLACK = 1.05;

    /** The most under a policy. @param layers of the transformer that stay, with layer offload */
    Residency under(Optional<WeightResidency> offload, int layers) {
        boolean staged = offload.equals(Optional.of(WeightResidency.LAYER));
        Bytes dit = staged ? staged(transformer, layers) : whole(transformer);
        Bytes encoder = staged ? staged(text, 0) : whole(text);
        long weightsAndScratch = offload.isEmpty()
                ? in(encoder) + in(dit) + video + audio + scratch.keySet().stream().mapToLong(this::of).sum()
                : most(List.of(in(encoder) + of(Stage.TEXT_ENCODING), in(dit) + of(Stage.DENOISING), video + Math.max(of(Stage.VIDEO_DECODING),
                of(Stage.CONDITION_ENCODING)), audio + of(Stage.AUDIO_DECODING)));
        long computed = (long) (SLACK * weightsAndScratch);
        long held = host == HostWeights.MMAP ? 0 : heldOnHost();
        long deviceBytes = device ? OPERATIONS + computed : 0;
        return new Residency(offload, staged ? Math.min(layers, transformer.count()) : transformer.count(), host, deviceBytes,
                heap + held + (device ? DRIVER : computed));
    }

    /** All that can be chosen, and layer offload with the first layers that the others leave room for. */
    List<Residency> all() {
        List<Residency> all = new ArrayList<>();
        all.add(under(Optional.empty(), 0));
        all.add(under(Optional.of(WeightResidency.COMPONENT), 0));
        all.add(under(Optional.of(WeightResidency.LAYER), 0));
        return all;
    }

    int layers() {
        return transformer.count();
    }

    private long in(Bytes bytes) {
        return device ? bytes.device() : bytes.copies();
    }

    private static Bytes whole(NetworkBytes network) {
        return network.fixed().plus(network.layers()).plus(network.once()).plus(twice(network.projection()));
    }

    /** Two rooms for layers stay; those for what is walked through once come and go, the larger pair decides. */
    private static Bytes staged(NetworkBytes network, int resident) {
        long stay = Math.min(resident, network.count());
        Bytes rooms = stay >= network.count() ? Bytes.NONE : twice(network.layer());
        return network.fixed().plus(times(network.layer(), stay)).plus(rooms).plus(twice(network.projection()).max(twice(network.part())));
    }

    private static Bytes twice(Bytes bytes) {
        return times(bytes, ROOMS);
    }

    private static Bytes times(Bytes bytes, long count) {
        return new Bytes(bytes.stored() * count, bytes.device() * count, bytes.copies() * count);
    }

    private long heldOnHost() {
        Bytes all = text.fixed().plus(text.layers()).plus(transformer.fixed()).plus(transformer.layers()).plus(transformer.once());
        return all.stored() + video + audio;
    }

    private long of(Stage stage) {
        long used = scratch.getOrDefault(stage, 0L);
        return device ? used : used + Math.min(used, WORKSPACE_STEP);
    }

    private static long most(List<Long> stages) {
        return stages.stream().mapToLong(Long::longValue).max().orElse(0);
    }
}
