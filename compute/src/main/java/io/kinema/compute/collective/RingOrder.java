package io.kinema.compute.collective;

/**
 * The order in which rings of this engine add: values are cut into chunks, and chunk c is added up beginning with rank (c + 1) mod n, in the order of
 * ranks and round to rank c mod n. The order changes with the position, as NCCL's does, and is the same on a processor and on a GPU, so that their
 * sums have the same bits. Of the chunks, each rank adds a range.
 *
 * @param elements of the sum
 * @param chunk    values of a chunk
 * @param ranks    how many values are added for each element
 */
public record RingOrder(long elements, int chunk, int ranks) {
    /** Values of a chunk: 128 KiB. */
    public static final int CHUNK = 1 << 15;

    /** The first chunk that {@code rank} adds; it adds those before the next rank's first. */
    public long firstChunk(int rank) {
        long chunks = (elements + chunk - 1) / chunk;
        return chunks * rank / ranks;
    }

    /** The first element that {@code rank} adds. */
    public long firstElement(int rank) {
        return Math.min(elements, firstChunk(rank) * chunk);
    }

    /** The rank whose value is the {@code k}-th to be added in a chunk, 0 for the first. */
    public int rankAt(long index, int k) {
        return (int) ((index + 1 + k) % ranks);
    }
}
