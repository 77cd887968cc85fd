package io.kinema.model.load;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedCollection;
import java.util.SequencedMap;
import java.util.function.Consumer;

/** The tensors that a network's config implies, in the order of the network: names, shapes, and which of them must be FP32. Immutable. */
public final class Inventory {
    /** How many names of each kind a complaint shows. */
    private static final int SHOWN = 3;

    /** What a tensor may be. */
    public enum Rule {
        /** Any float type. */
        FLOAT,
        /** FP32 exactly: the network reads it at full precision and a narrower copy would be a different model. */
        FP32,
        /** Any float type, and it may be absent: nothing here reads it. */
        UNREAD
    }

    /**
     * One tensor.
     *
     * @param name  in the layout the inventory describes
     * @param shape sizes, outermost first
     * @param rule  what its dtype may be, and whether it must be there
     */
    public record Entry(String name, Shape shape, Rule rule) {
    }

    private final SequencedMap<String, Entry> entries;

    private Inventory(SequencedMap<String, Entry> entries) {
        this.entries = Collections.unmodifiableSequencedMap(entries);
    }

    /** These tensors, in this order. @throws IllegalArgumentException when two have one name */
    public static Inventory of(SequencedCollection<Entry> entries) {
        Builder all = builder();
        entries.forEach(e -> all.add(e.name(), e.rule(), e.shape().toArray()));
        return all.build();
    }

    /** Starts an empty list. */
    public static Builder builder() {
        return new Builder("", new LinkedHashMap<>());
    }

    /** All tensors in order. */
    public SequencedCollection<Entry> entries() {
        return entries.sequencedValues();
    }

    /** The same tensors, with none of them held to FP32 but {@code exact}. */
    public Inventory anyFloat(String exact) {
        return of(entries.sequencedValues().stream()
                .map(e -> e.rule() == Rule.FP32 && !e.name().equals(exact) ? new Entry(e.name(), e.shape(), Rule.FLOAT) : e).toList());
    }

    /** The tensor of this name, or empty. */
    public Optional<Entry> find(String name) {
        return Optional.ofNullable(entries.get(name));
    }

    /**
     * Compares names, shapes and dtypes with a source, reading headers only.
     *
     * @return what does not fit, in one line that shows at most three names of each kind; empty when everything fits
     */
    public Optional<String> misfit(TensorSource source) {
        List<String> missing = new ArrayList<>();
        List<String> shapes = new ArrayList<>();
        List<String> dtypes = new ArrayList<>();
        for (Entry entry : entries.values()) {
            source.header(entry.name()).ifPresentOrElse(stored -> {
                if (!stored.shape().equals(entry.shape())) {
                    shapes.add(entry.name() + " is " + stored.shape() + ", expected " + entry.shape());
                }
                wrongType(entry, stored).ifPresent(dtypes::add);
            }, () -> {
                if (entry.rule() != Rule.UNREAD) {
                    missing.add(entry.name());
                }
            });
        }
        List<String> strangers = source.names().stream().filter(n -> !entries.containsKey(n)).toList();
        List<String> parts = new ArrayList<>();
        describe(parts, "missing", missing);
        describe(parts, "not expected", strangers);
        describe(parts, "of another shape", shapes);
        describe(parts, "of another dtype", dtypes);
        return parts.isEmpty() ? Optional.empty() : Optional.of(source.origin() + ": the tensors do not fit the config: "
                + String.join("; ", parts) + "; use the weights and the config.json of one download");
    }

    /** @throws BadWeightsException with {@link #misfit}'s line when something does not fit */
    public void require(TensorSource source) {
        misfit(source).ifPresent(line -> {
            throw new BadWeightsException(line);
        });
    }

    private static Optional<String> wrongType(Entry entry, TensorHeader stored) {
        boolean fits = switch (entry.rule()) {
            case FP32 -> stored.dtype().equals(Optional.of(DType.F32));
            case FLOAT -> stored.floating() && stored.readable();
            case UNREAD -> stored.floating();
        };
        return fits ? Optional.empty() : Optional.of(entry.name() + " is " + stored.encoding() + ", expected "
                + (entry.rule() == Rule.FP32 ? "F32" : "a float dtype or an encoding that is understood"));
    }

    private static void describe(List<String> parts, String what, List<String> names) {
        if (!names.isEmpty()) {
            parts.add(names.size() + " " + what + " (" + String.join(", ", names.subList(0, Math.min(SHOWN, names.size())))
                    + (names.size() > SHOWN ? ", ..." : "") + ")");
        }
    }

    /** Collects an inventory; used by one thread. */
    public static final class Builder {
        private final String prefix;
        private final SequencedMap<String, Entry> entries;

        private Builder(String prefix, SequencedMap<String, Entry> entries) {
            this.prefix = prefix;
            this.entries = entries;
        }

        /** The same list, with {@code more} appended to the prefix of every name. */
        public Builder under(String more) {
            return new Builder(prefix + more, entries);
        }

        /** Adds a tensor of any float type. */
        public Builder add(String name, long... dims) {
            return add(name, Rule.FLOAT, dims);
        }

        /** Adds {@code name.weight} with these sizes and {@code name.bias} with the first of them. */
        public Builder affine(String name, long... dims) {
            return affine(name, Rule.FLOAT, dims);
        }

        /** {@link #affine(String, long...)} with a rule. */
        public Builder affine(String name, Rule rule, long... dims) {
            return add(name + ".weight", rule, dims).add(name + ".bias", rule, dims[0]);
        }

        /** Adds a tensor. @throws IllegalArgumentException when the name is already there */
        public Builder add(String name, Rule rule, long... dims) {
            if (entries.putIfAbsent(prefix + name, new Entry(prefix + name, Shape.of(dims), rule)) != null) {
                throw new IllegalArgumentException("inventory: " + prefix + name + " was added twice");
            }
            return this;
        }

        /** Adds what {@code block} adds, {@code count} times, under {@code prefix0.}, {@code prefix1.} and so on. */
        public Builder blocks(String blockPrefix, int count, Consumer<Builder> block) {
            for (int i = 0; i < count; i++) {
                block.accept(under(blockPrefix + i + "."));
            }
            return this;
        }

        public Inventory build() {
            return new Inventory(new LinkedHashMap<>(entries));
        }
    }
}
