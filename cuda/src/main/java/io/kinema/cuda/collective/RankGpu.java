package io.kinema.cuda.collective;

import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.ops.OpContext;
import java.util.function.Function;

/**
 * One rank's GPU. Owns nothing.
 *
 * @param operations what its operations work with; collectives are enqueued on the same stream
 * @param memory     makes a workspace on the device for an owner
 */
public record RankGpu(GpuContext context, OpContext operations, Function<String, Workspace> memory) {
}
