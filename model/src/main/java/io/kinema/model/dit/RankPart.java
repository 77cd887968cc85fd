package io.kinema.model.dit;

import java.util.List;

/**
 * What one rank holds of something that every rank has its own of. The first rank's part stands for all of them where a caller asks a
 * {@link Transformer}: it leads the others' and closes with them.
 *
 * @param <T> the part's own class
 */
abstract class RankPart<T extends RankPart<T>> implements AutoCloseable {
    private List<T> others = List.of();

    /** Makes the first of these parts lead the others. @param parts of all ranks, in their order */
    static <T extends RankPart<T>> T led(List<T> parts) {
        T first = parts.getFirst();
        ((RankPart<T>) first).others = List.copyOf(parts.subList(1, parts.size()));
        return first;
    }

    /** A rank's part. @throws IllegalArgumentException when this leads fewer ranks */
    final T of(int rank) {
        if (rank > others.size()) {
            throw new IllegalArgumentException(getClass().getSimpleName() + ": got one of " + (others.size() + 1)
                    + " ranks, expected one made by the transformer that uses it");
        }
        return rank == 0 ? self() : others.get(rank - 1);
    }

    abstract T self();

    /** Device memory of this part alone. */
    abstract long ownBytes();

    /** Gives this part's own memory back; idempotent. */
    abstract void closeOwn();

    /** Bytes of device memory held on all ranks. */
    public final long bytes() {
        return ownBytes() + others.stream().mapToLong(RankPart::ownBytes).sum();
    }

    @Override
    public final void close() {
        others.forEach(RankPart::closeOwn);
        closeOwn();
    }
}
