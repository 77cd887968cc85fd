package io.kinema.cuda.collective;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.BackendGroup.Member;
import io.kinema.cuda.CudaBackend;
import io.kinema.cuda.CudaOptions;
import java.lang.foreign.MemorySegment;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What becomes of ranks on real GPUs when one of them breaks. A program:
 *
 * <pre>java -cp ... io.kinema.cuda.collective.RankFaults 0,1</pre>
 *
 * The last fault breaks a GPU's context for the rest of the process, so the process ends after it.
 */
public final class RankFaults {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final long LATE_MILLIS = 5_000;

    private RankFaults() {
    }

    public static void main(String[] args) {
        List<Backend> backends = new ArrayList<>();
        Arrays.stream(args[0].split(",")).forEach(gpu -> backends.add(CudaBackend.open(Integer.parseInt(gpu), CudaOptions.DEFAULTS)));
        BackendGroup group = BackendGroup.of(backends, TIMEOUT);
        int last = backends.size() - 1;
        fault(group, "rank " + last + " throws between two sums", member -> {
            if (member.ranks().rank() == last) {
                throw new UnsupportedOperationException("rank " + last + " broke");
            }
        });
        sums(group);
        fault(group, "rank " + last + " comes " + LATE_MILLIS + " ms late, " + TIMEOUT.toMillis() + " are allowed", member -> {
            if (member.ranks().rank() == last) {
                sleep();
            }
        });
        sums(group);
        fault(group, "a kernel of rank " + last + " writes outside of all memory", member -> {
            if (member.ranks().rank() == last) {
                member.backend().fill(Tensor.of(DType.F32, Shape.of(1 << 20), MemorySegment.ofAddress(1L << 60).reinterpret(4L << 20), member.backend().device()), 1f);
            }
        });
        Runtime.getRuntime().halt(0);
    }

    @FunctionalInterface
    private interface Fault {
        void happen(Member member);
    }

    private static void fault(BackendGroup group, String what, Fault fault) {
        long start = System.nanoTime();
        try {
            group.each(member -> {
                try (Workspace memory = member.backend().workspace("test")) {
                    Tensor values = memory.f32(4096, 4096);
                    member.backend().fill(values, 1f);
                    member.ranks().allReduce(values);
                    fault.happen(member);
                    for (int i = 0; i < 20; i++) {
                        member.ranks().allReduce(values);
                    }
                    long waiting = System.nanoTime();
                    try {
                        member.backend().finish();
                    } finally {
                        say("  rank %d waited %.3f s for its GPU", member.ranks().rank(), (System.nanoTime() - waiting) / 1e9);
                    }
                    return 0;
                } catch (RuntimeException e) {
                    say("  rank %d ended after %.3f s: %s", member.ranks().rank(), (System.nanoTime() - start) / 1e9, e.getMessage());
                    throw e;
                }
            });
            say("%s: NOT NOTICED", what);
        } catch (RuntimeException e) {
            say("%s: all ranks ended after %.3f s, told as %s: %s", what, (System.nanoTime() - start) / 1e9, e.getClass().getSimpleName(), e.getMessage());
        }
    }

    /** After a fault the same group adds again. */
    private static void sums(BackendGroup group) {
        List<Float> sums = group.each(member -> {
            try (Workspace memory = member.backend().workspace("test")) {
                Tensor values = memory.f32(8);
                member.backend().fill(values, 1f);
                member.ranks().allReduce(values);
                Tensor host = Tensor.ofFloats(new float[8], 8);
                member.backend().copy(values, host);
                return host.toFloats()[0];
            }
        });
        say("  afterwards the ranks add up ones to %s", sums);
    }

    private static void sleep() {
        try {
            Thread.sleep(LATE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
