package io.kinema.engine.plan;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.Task;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.Adapter.AlphaUsed.Source;
import io.kinema.model.adapter.Partition;
import java.util.ArrayList;
import java.util.List;

/** Which adapters a request may have: of its transformer, for its task, with alpha said once. */
final class AdapterRules {
    private static final String FIELD = "adapter";

    private AdapterRules() {
    }

    static List<ResolvedAdapter> resolve(List<AdapterUse> uses, Task task, AdapterFiles files, List<String> notes) {
        List<ResolvedAdapter> resolved = new ArrayList<>();
        for (AdapterUse use : uses) {
            Adapter adapter = files.read(use, task);
            requirePartition(use, adapter, task);
            requireFactors(use, adapter);
            resolved.add(ResolvedAdapter.of(use, adapter));
            if (use.scale() == 0) {
                notes.add("adapter " + use.name() + " is left out by its scale of 0, and its contract with it");
            }
        }
        requireAlphaOnce(resolved);
        requireAlone(resolved);
        return resolved;
    }

    private static void requirePartition(AdapterUse use, Adapter adapter, Task task) {
        Partition runs = Partition.of(task.label());
        adapter.partition().filter(p -> p != runs).ifPresent(p -> {
            throw new BadRequestException(FIELD, use.name() + ", trained on " + p.label(), "but " + task.label() + " runs " + runs.label()
                    + "; use it with " + p.tasks() + ", or take an adapter of " + runs.label());
        });
        adapter.contract().filter(c -> !c.tasks().contains(task.label())).ifPresent(c -> {
            throw new BadRequestException(FIELD, use.name() + " with " + task.label(), "but it was trained for " + String.join(" and ", c.tasks())
                    + "; change what the clip is made from, or take another adapter");
        });
    }

    /** A scale is finite; times alpha / rank it is a float. */
    private static void requireFactors(AdapterUse use, Adapter adapter) {
        if (adapter.pairs().stream().anyMatch(pair -> !Float.isFinite((float) (pair.factor() * use.scale())))) {
            throw new BadRequestException(FIELD, use.name() + " at scale " + use.scale(), "expected a scale that a float holds when it is multiplied by alpha / rank");
        }
    }

    /** Alpha is stated for the adapters that lack one; where none does, it must not contradict what they have. */
    private static void requireAlphaOnce(List<ResolvedAdapter> adapters) {
        if (adapters.stream().anyMatch(a -> a.alpha().from() == Source.CALLER)) {
            return;
        }
        for (ResolvedAdapter adapter : adapters) {
            adapter.use().alpha().filter(a -> !adapter.alpha().value().equals(a.toString())).ifPresent(a -> {
                throw new BadRequestException("adapterAlpha", a.toString(), "but " + adapter.use().name() + " has alpha " + adapter.alpha().value()
                        + (adapter.alpha().from() == Source.FILE ? " by its file" : " as published") + "; leave it out");
            });
        }
    }

    /** Fusing rounds to the checkpoint's dtype: it is done once, at full strength, with nothing on top. */
    private static void requireAlone(List<ResolvedAdapter> adapters) {
        for (ResolvedAdapter adapter : adapters) {
            if (adapter.fused() && adapter.use().scale() != 1) {
                throw new BadRequestException(FIELD, adapter.use().name() + " at scale " + adapter.use().scale(),
                        "but it edits whole weights and was trained at 1; leave the scale out");
            }
            if (adapter.fused() && adapters.size() > 1) {
                throw new BadRequestException(FIELD, adapter.use().name() + " among " + adapters.size() + " adapters",
                        "but it edits whole weights and takes no other beside it; use it alone");
            }
        }
    }
}
