package io.kinema.model.dit;

/**
 * An adapter in use. Owns nothing.
 *
 * @param adapter loaded by the transformer that uses it
 * @param scale   multiplies its own alpha / rank; finite, 0 leaves it out
 */
public record ScaledAdapter(LoadedAdapter adapter, double scale) {
    public ScaledAdapter {
        if (!Double.isFinite(scale)) {
            throw new IllegalArgumentException("adapter scale: got " + scale + ", expected a finite number");
        }
    }
}
