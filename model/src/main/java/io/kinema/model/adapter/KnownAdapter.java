package io.kinema.model.adapter;

import java.util.Optional;

/**
 * An artefact that this engine knows.
 *
 * @param name         what people call it
 * @param published    size and digest of the published file, where known
 * @param alpha        used when the file states none
 * @param contract     how to sample with it, where it is known
 * @param completeness which layers a whole file reaches
 */
record KnownAdapter(String name, Optional<Published> published, Optional<Alpha> alpha, Optional<SamplingContract> contract,
                    Completeness completeness) {
    /** The layers that must all be there. */
    enum Completeness {
        /** Nothing is known. */
        ANY,
        /** Attention and feed-forward of every block and refiner block. */
        BLOCKS,
        /** Those, and every AdaLN projection. */
        BLOCKS_AND_ADALN
    }

    /**
     * A published file.
     *
     * @param bytes size
     * @param head  first hex digits of its SHA-256
     * @param tail  last hex digits
     */
    record Published(long bytes, String head, String tail) {
        boolean is(String sha256) {
            return sha256.startsWith(head) && sha256.endsWith(tail);
        }

        @Override
        public String toString() {
            return head + "..." + tail;
        }
    }
}
