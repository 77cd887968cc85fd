package io.kinema.engine.plan;

import java.nio.file.Path;

/**
 * A picture that the clip starts from or ends on.
 *
 * @param anchor where on the clip's clock it stands
 * @param file   the picture
 */
public record Keyframe(Anchor anchor, Path file) {
    /** Ends of the clip. */
    public enum Anchor {
        FIRST("first"), LAST("last");

        private final String label;

        Anchor(String label) {
            this.label = label;
        }

        /** The name in run records and golden cases. */
        public String label() {
            return label;
        }
    }
}
