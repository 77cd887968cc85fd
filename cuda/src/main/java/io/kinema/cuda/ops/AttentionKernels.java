package io.kinema.cuda.ops;

import io.kinema.compute.Workspace;
import java.util.Optional;

/** One way to compute attention. */
interface AttentionKernels {
    /** The name that options and records use. */
    String name();

    /** Why it cannot compute this shape, or empty when it can. */
    Optional<String> refusal(AttentionShape shape);

    /** Enqueues it. Scratch memory is taken in the caller's frame. */
    void run(AttentionCall call, Workspace scratch);
}
