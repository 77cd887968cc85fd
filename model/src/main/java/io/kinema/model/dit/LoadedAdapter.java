package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.AdapterTarget;
import io.kinema.model.adapter.LowRankPair;
import io.kinema.model.layer.LowRankDelta;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.Share;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Owns an adapter's matrices on a transformer's devices until it is closed; the base transformer is not touched, so that
 * adapters come and go without loading it again. Made by {@link Transformer#load}; closing twice is harmless. The adapter's file
 * must outlive it, and it must outlive its use.
 */
public final class LoadedAdapter extends RankPart<LoadedAdapter> {
    private final Adapter adapter;
    private final Workspace memory;
    private final List<Factors> factors;

    /** @param sharesDown an earlier target of the same module uses the same rows of A */
    private record Factors(AdapterTarget target, Weight down, Weight up, double factor, boolean sharesDown) {
    }

    private LoadedAdapter(Adapter adapter, Workspace memory, List<Factors> factors) {
        this.adapter = adapter;
        this.memory = memory;
        this.factors = factors;
    }

    /** @param ranks hold a part each: of A the inputs that a rank's layers read, of B the outputs that they make */
    static LoadedAdapter load(Backend backend, Adapter adapter, Rounding rounding, Communicator ranks) {
        if (adapter.fused()) {
            throw new IllegalArgumentException("adapter " + adapter.name() + ": it edits whole weights, expected one for run time; fuse it into the checkpoint");
        }
        Workspace memory = backend.workspace("adapter " + adapter.name());
        try {
            List<Factors> factors = new ArrayList<>();
            Set<String> downs = new HashSet<>();
            for (LowRankPair pair : adapter.pairs()) {
                if (pair.rank() > 0) {
                    boolean shared = !downs.add(pair.down().name() + " " + pair.from() + " " + pair.to());
                    factors.add(factors(Parameters.atHand(backend, memory, island(pair.target()) ? Rounding.AS_STORED : rounding), pair, share(pair.target(), ranks), shared));
                }
            }
            return new LoadedAdapter(adapter, memory, factors);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    private static Factors factors(Parameters p, LowRankPair pair, Share share, boolean sharesDown) {
        boolean outputs = share.axis() == Share.Axis.OUTPUTS;
        Weight up = p.matrix(pair.up(), outputs ? share : Share.WHOLE);
        if (pair.rank() < pair.up().shape().dim(1) && up instanceof DenseWeight dense) {
            up = new DenseWeight(dense.values().slice(1, pair.from(), pair.to()));
        }
        // Where outputs are shared out every rank has all of A, and its product counts once.
        return new Factors(pair.target(), p.matrix(ranks(pair), outputs ? Share.WHOLE : share), up, pair.factor(), sharesDown || outputs && share.part() > 0);
    }

    /** The part of a layer's matrix that a rank holds. */
    private static Share share(AdapterTarget target, Communicator ranks) {
        if (island(target)) {
            return Share.WHOLE;
        }
        boolean inputs = target.module().endsWith(".attn.to_out.0") || target.module().endsWith(".ff.net.2");
        return inputs ? Share.inputs(ranks) : Share.outputs(ranks);
    }

    /** The rows of A that matter. */
    private static StoredTensor ranks(LowRankPair pair) {
        StoredTensor a = pair.down();
        long row = a.shape().dim(1) * a.dtype().bytes();
        return new StoredTensor(a.name(), a.dtype(), Shape.of(pair.rank(), a.shape().dim(1)),
                a.data().asSlice(pair.from() * row, pair.rank() * row), a.file());
    }

    /** Layers outside of attention and feed-forward run in FP32 in every plan. */
    private static boolean island(AdapterTarget target) {
        return !target.module().contains(".attn.") && !target.module().contains(".ff.");
    }

    public Adapter adapter() {
        return adapter;
    }

    @Override
    LoadedAdapter self() {
        return this;
    }

    /** On the CPU matrices that need no conversion stay in the file's map. */
    @Override
    long ownBytes() {
        return memory.bytes();
    }

    /** Its deltas, times {@code scale}. */
    Map<AdapterTarget, LowRankDelta> deltas(double scale) {
        Map<AdapterTarget, LowRankDelta> deltas = new LinkedHashMap<>();
        factors.forEach(f -> deltas.put(f.target(), new LowRankDelta(f.down(), f.up(), (float) (f.factor() * scale), f.sharesDown())));
        return deltas;
    }

    @Override
    void closeOwn() {
        memory.close();
    }
}
