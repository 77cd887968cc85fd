package io.kinema.model.adapter;

import io.kinema.model.adapter.AdapterKey.Kind;
import io.kinema.model.adapter.AdapterRecognizer.Recognized;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads one adapter file. Every tensor must find its place, every pair be whole, every value be finite. Used once. */
final class AdapterReader {
    private static final int STRANGERS_SHOWN = 3;

    private final AdapterSource source;
    private final TransformerTensors transformer;
    private final Optional<Alpha> otherwise;
    private final Arena arena;
    private final ModuleNames names;
    private final String origin;

    /**
     * @param otherwise alpha of a file that does not say it and is not known
     * @param arena  of rows that have to be put in order
     */
    AdapterReader(AdapterSource source, TransformerTensors transformer, Optional<Alpha> otherwise, Arena arena) {
        this.source = source;
        this.transformer = transformer;
        this.otherwise = otherwise;
        this.arena = arena;
        this.names = new ModuleNames(transformer);
        this.origin = source.tensors().origin();
    }

    /** @throws BadWeightsException when it is not whole, or not for this transformer */
    Adapter read() {
        List<AdapterKey> keys = keys();
        Recognized recognized = AdapterRecognizer.recognize(source);
        keys.forEach(k -> FiniteTensors.require(source.tensors().get(k.name())));
        AlphaChoice alpha = new AlphaChoice(source, recognized, otherwise);
        List<LowRankPair> pairs = pairs(keys, alpha);
        List<WeightEdit> edits = edits(keys);
        if (FastH3.is(source.metadata())) {
            FastH3.check(origin, source.metadata(), keys, pairs.stream().mapToInt(p -> p.down().shape().size(0)).max().orElse(0));
        }
        recognized.known().ifPresent(k -> Completeness.require(origin, k, pairs, transformer));
        return new Adapter(source.fileName(), source.sha256(), recognized.as(), KeyStyle.describe(keys), keys.size(), pairs, edits, alpha.used(),
                partition(keys, recognized), recognized.contract());
    }

    /** Every tensor's place. */
    private List<AdapterKey> keys() {
        List<AdapterKey> keys = new ArrayList<>();
        List<String> strangers = new ArrayList<>();
        for (String name : source.tensors().names()) {
            Optional<AdapterKey> key = AdapterKey.parse(name).filter(this::placed);
            key.ifPresentOrElse(keys::add, () -> strangers.add(name));
        }
        if (strangers.stream().anyMatch(FastH3::sparseGate)) {
            throw new BadWeightsException(origin + ": tensor " + strangers.stream().filter(FastH3::sparseGate).findFirst().orElseThrow()
                    + " is a gate of sparse attention, which this transformer does not have; use the dense variant of the adapter");
        }
        if (!strangers.isEmpty() || keys.isEmpty()) {
            throw new BadWeightsException(origin + ": " + keys.size() + " of " + (keys.size() + strangers.size())
                    + " tensors belong to this transformer" + (strangers.isEmpty() ? "" : ", the first that do not are "
                    + String.join(", ", strangers.subList(0, Math.min(STRANGERS_SHOWN, strangers.size()))))
                    + "; nothing of it is used, the adapter is for another model or named in a style not known here");
        }
        return keys;
    }

    private boolean placed(AdapterKey key) {
        return switch (key.kind()) {
            case DOWN, UP, ALPHA -> names.find(key.module()).isPresent();
            case WEIGHT_DIFF, BIAS_DIFF, SET_WEIGHT -> edited(key).isPresent();
        };
    }

    private List<LowRankPair> pairs(List<AdapterKey> keys, AlphaChoice alpha) {
        Map<String, Map<Kind, AdapterKey>> modules = new LinkedHashMap<>();
        for (AdapterKey key : keys) {
            if (key.kind() == Kind.DOWN || key.kind() == Kind.UP || key.kind() == Kind.ALPHA) {
                AdapterKey twin = modules.computeIfAbsent(key.module(), m -> new EnumMap<>(Kind.class)).put(key.kind(), key);
                if (twin != null) {
                    throw twice(twin.name(), key.name());
                }
            }
        }
        FactorPairs factors = new FactorPairs(transformer, interleaved(keys), arena);
        Map<AdapterTarget, LowRankPair> pairs = new LinkedHashMap<>();
        modules.forEach((module, of) -> {
            StoredTensor down = tensor(module, of, Kind.DOWN);
            StoredTensor up = tensor(module, of, Kind.UP);
            Optional<Double> own = Optional.ofNullable(of.get(Kind.ALPHA)).map(this::scalar);
            ModulePlacement placement = names.find(module).orElseThrow();
            double factor = alpha.factor(own, placement.targets().getFirst().module(), down);
            for (LowRankPair pair : factors.of(placement, down, up, factor)) {
                LowRankPair twin = pairs.put(pair.target(), pair);
                if (twin != null) {
                    throw twice(twin.down().name(), pair.down().name());
                }
            }
        });
        return List.copyOf(pairs.values());
    }

    private BadWeightsException twice(String one, String other) {
        return new BadWeightsException(origin + ": tensors " + one + " and " + other + " mean the same layer, expected one of them; export the adapter again");
    }

    private StoredTensor tensor(String module, Map<Kind, AdapterKey> of, Kind kind) {
        if (of.get(kind) == null) {
            throw new BadWeightsException(origin + ": module " + module + " has " + of.values().stream().map(AdapterKey::name).toList() + " but no "
                    + (kind == Kind.DOWN ? "A (down)" : "B (up)") + " tensor; the file is cut or edited, fetch it again");
        }
        StoredTensor tensor = source.tensors().get(of.get(kind).name());
        if (!tensor.dtype().floating()) {
            throw new BadWeightsException(origin + ": tensor " + tensor.name() + " is " + tensor.dtype() + ", expected a float dtype; export the adapter again");
        }
        return tensor;
    }

    private double scalar(AdapterKey key) {
        StoredTensor tensor = source.tensors().get(key.name());
        double value = tensor.shape().elements() == 1 ? FloatConversion.toDouble(tensor.dtype(), tensor.data(), 0) : Double.NaN;
        if (!(value > 0)) {
            throw new BadWeightsException(origin + ": tensor " + key.name() + " is " + tensor.dtype() + tensor.shape()
                    + (tensor.shape().elements() == 1 ? " of " + value : "") + ", expected one number above 0; export the adapter again");
        }
        return value;
    }

    /** DiffSynth trains on the raw checkpoint's rows and gives itself away by PEFT's infix on original names; FlashGen says it. */
    private boolean interleaved(List<AdapterKey> keys) {
        String layout = source.metadata().get("qkv_layout");
        if (layout != null && !layout.equals("grouped") && !layout.equals("stacked")) {
            throw new BadWeightsException(origin + ": metadata qkv_layout is '" + layout + "', expected grouped (head by head) or stacked (all of q, k, v)");
        }
        return layout == null ? keys.stream().anyMatch(AdapterKey::infix) : layout.equals("grouped");
    }

    private List<WeightEdit> edits(List<AdapterKey> keys) {
        List<WeightEdit> edits = new ArrayList<>();
        Set<String> seen = new LinkedHashSet<>();
        for (AdapterKey key : keys) {
            Optional<String> edited = key.kind() == Kind.DOWN || key.kind() == Kind.UP || key.kind() == Kind.ALPHA ? Optional.empty() : edited(key);
            edited.ifPresent(tensor -> {
                StoredTensor value = source.tensors().get(key.name());
                Shape expected = transformer.shapes().get(tensor);
                if (!value.shape().equals(expected) || !value.dtype().floating()) {
                    throw new BadWeightsException(origin + ": tensor " + key.name() + " is " + value.dtype() + value.shape() + ", expected floats "
                            + expected + "; the adapter is for a model of another size, or the file is damaged");
                }
                if (!seen.add(tensor)) {
                    throw twice(tensor, key.name());
                }
                edits.add(new WeightEdit(tensor, key.kind() == Kind.SET_WEIGHT ? WeightEdit.Kind.SET : WeightEdit.Kind.ADD, value));
            });
        }
        return edits;
    }

    /** The tensor that a full-rank edit changes; halves and thirds of fused originals are not edited by any known file. */
    private Optional<String> edited(AdapterKey key) {
        String ending = key.kind() == Kind.BIAS_DIFF ? ".bias" : ".weight";
        Optional<String> renamed = names.find(key.module()).filter(p -> p.targets().size() == 1).map(p -> p.targets().getFirst().module());
        return Optional.of(key.module() + ending).filter(transformer.shapes()::containsKey)
                .or(() -> renamed.map(m -> m + ending).filter(transformer.shapes()::containsKey));
    }

    /** A contract knows best; then the component that every key's prefix names. */
    private Optional<Partition> partition(List<AdapterKey> keys, Recognized recognized) {
        if (recognized.contract().isPresent()) {
            return Partition.of(recognized.contract().get().tasks());
        }
        Optional<Partition> first = keys.getFirst().partition();
        Optional<AdapterKey> other = keys.stream().filter(k -> !k.partition().equals(first)).findFirst();
        if (other.isPresent()) {
            throw new BadWeightsException(origin + ": tensors " + keys.getFirst().name() + " and " + other.get().name()
                    + " are for different transformers, expected one; split the file");
        }
        return first;
    }
}
