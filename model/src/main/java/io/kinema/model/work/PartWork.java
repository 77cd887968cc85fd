package io.kinema.model.work;

/**
 * Floating-point operations of one part of a network; a multiply-add counts as two.
 *
 * @param products  matrix products with the network's own weights
 * @param attention scores and mixtures of values
 * @param adapters  low-rank products of adapters
 */
public record PartWork(long products, long attention, long adapters) {
    /** Nothing done. */
    public static final PartWork NONE = new PartWork(0, 0, 0);

    /** All of them. */
    public long flops() {
        return products + attention + adapters;
    }

    PartWork plus(PartWork more) {
        return new PartWork(products + more.products, attention + more.attention, adapters + more.adapters);
    }

    PartWork minus(PartWork earlier) {
        return new PartWork(products - earlier.products, attention - earlier.attention, adapters - earlier.adapters);
    }
}
