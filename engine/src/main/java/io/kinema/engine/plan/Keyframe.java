package io.kinema.engine.plan;

import io.kinema.engine.layout.Anchor;
import java.nio.file.Path;

/**
 * A picture that the clip starts from or ends on.
 *
 * @param anchor where on the clip's clock it stands
 * @param file   the picture
 */
public record Keyframe(Anchor anchor, Path file) {
}
