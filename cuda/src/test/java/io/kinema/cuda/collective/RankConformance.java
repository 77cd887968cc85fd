package io.kinema.cuda.collective;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.BackendGroup.Member;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.collective.RingOrder;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.RowReduction.Mode;
import io.kinema.compute.collective.RowShares;
import io.kinema.cuda.CudaBackend;
import io.kinema.cuda.CudaOptions;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.nccl.Nccl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Random;

/**
 * Runs ranks on real GPUs and compares their sums, bit for bit, with those of ranks on the host. A program, because builds have no GPU:
 *
 * <pre>java -cp ... io.kinema.cuda.collective.RankConformance 0,0,0,0       ranks that share a GPU
 * java -cp ... io.kinema.cuda.collective.RankConformance 0,1             two GPUs by NCCL
 * java -cp ... io.kinema.cuda.collective.RankConformance 0,1 peers       two GPUs by each other's memory
 * java -cp ... io.kinema.cuda.collective.RankConformance 0,1,2,3 scatter NCCL's reduce-scatter against its all-reduce
 * java -cp ... io.kinema.cuda.collective.RankConformance 0,0,0,0 - 70  with the kernels for a V100</pre>
 */
public final class RankConformance {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long PLENTY = 8L << 30;
    private static final int TIMED = 10;
    private static final List<int[]> SHAPES = List.of(new int[] {4, 3}, new int[] {4, 1}, new int[] {8, 5}, new int[] {12, 7}, new int[] {64, 33},
            new int[] {100, 21}, new int[] {256, 129}, new int[] {4, 4099}, new int[] {64, 4096}, new int[] {340, 5376}, new int[] {955, 640});

    private final List<Integer> gpus;
    private int agree;
    private int differ;

    private enum Values {
        ORDINARY, WIDE, SUBNORMAL, SIGNED_ZERO, INFINITY, OVERFLOW;

        float next(Random random) {
            float x = (float) random.nextGaussian();
            return switch (this) {
                case ORDINARY -> x;
                case WIDE -> x * (float) Math.pow(2, random.nextInt(-60, 60));
                case SUBNORMAL -> Float.intBitsToFloat(random.nextInt(1 << 23) | random.nextInt(2) << 31);
                case SIGNED_ZERO -> random.nextBoolean() ? -0f : random.nextInt(4) == 0 ? x : 0f;
                case INFINITY -> random.nextInt(8) == 0 ? Float.POSITIVE_INFINITY : x;
                case OVERFLOW -> 1e38f * (1 + random.nextInt(3)) * (random.nextBoolean() ? 1 : -1);
            };
        }
    }

    /** Runs work on all ranks, however they were joined. */
    private interface Ranks {
        <T> List<T> each(BackendGroup.Work<T> work);
    }

    private RankConformance(List<Integer> gpus) {
        this.gpus = gpus;
    }

    public static void main(String[] args) {
        RankConformance run = new RankConformance(Arrays.stream(args[0].split(",")).map(Integer::valueOf).toList());
        List<Backend> backends = new ArrayList<>();
        CudaOptions options = args.length > 2 ? images(Integer.parseInt(args[2])) : CudaOptions.DEFAULTS;
        run.gpus.forEach(gpu -> backends.add(CudaBackend.open(gpu, options)));
        say("kernels: %s", backends.getFirst().choices().get("kernel images"));
        if (args.length > 1 && args[1].equals("peers")) {
            run.overPeers(backends);
        } else if (args.length > 1 && args[1].equals("scatter")) {
            run.scatter(backends);
        } else {
            try (BackendGroup group = BackendGroup.of(backends, TIMEOUT)) {
                say("%s: %s, buffers %s bytes", args[0], backends.getFirst().choices().get("collectives"), group.bufferBytes());
                run.everything(group::each);
            }
        }
        say("%d comparisons agree, %d do not", run.agree, run.differ);
        System.exit(Math.min(run.differ, 100));
    }

    private static CudaOptions images(int architecture) {
        CudaOptions own = CudaOptions.DEFAULTS;
        return new CudaOptions(own.attention(), own.queryTile(), OptionalInt.of(architecture), own.maxMemoryBytes());
    }

    private void overPeers(List<Backend> backends) {
        try (RankGroup group = RankGroup.open(gpus.size(), TIMEOUT)) {
            List<Communicator> rings = group.each(host -> {
                RankGpu gpu = ((CudaBackend) backends.get(host.rank())).rank();
                say("rank %d reaches all others: %s", host.rank(), GpuRanks.reach(host, gpu, host.exchange(gpu)));
                return new PeerRing(host, gpu, RingOrder.CHUNK);
            });
            everything(new Ranks() {
                @Override
                public <T> List<T> each(BackendGroup.Work<T> work) {
                    return group.each(host -> work.run(new Member(rings.get(host.rank()), backends.get(host.rank()))));
                }
            });
        }
    }

    /** How far NCCL's reduce-scatter is from the same rows of its all-reduce: other orders of addition from three ranks on. */
    private void scatter(List<Backend> backends) {
        Nccl nccl = Nccl.load(LibraryFinder.ofEnvironment().find(CudaLibrary.NCCL));
        int[] shape = {3456 * gpus.size(), 5376};
        try (RankGroup group = RankGroup.open(gpus.size(), TIMEOUT)) {
            group.each(host -> {
                Backend backend = backends.get(host.rank());
                try (NcclRing ring = new NcclRing(host, ((CudaBackend) backend).rank(), nccl); Workspace memory = backend.workspace("test")) {
                    Tensor values = placed(backend, memory, many(host.rank(), shape));
                    Tensor mine = memory.f32(shape[0] / gpus.size(), shape[1]);
                    ring.reduceScatter(values, mine);
                    ring.allReduce(values);
                    float[] scattered = host(backend, mine);
                    float[] whole = host(backend, values);
                    float[] rows = Arrays.copyOfRange(whole, host.rank() * scattered.length, (host.rank() + 1) * scattered.length);
                    say("rank %d of NCCL %s: reduce-scatter against all-reduce, relative L2 %.3g, the same bits: %s", host.rank(), nccl.version(),
                            relativeL2(scattered, rows), same(scattered, rows));
                    ring.barrier();
                    backend.finish();
                    return host.agree(true);
                }
            });
        }
    }

    private static double relativeL2(float[] got, float[] expected) {
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            difference += Math.pow((double) got[i] - expected[i], 2);
            norm += Math.pow(expected[i], 2);
        }
        return Math.sqrt(difference / norm);
    }

    private void everything(Ranks ranks) {
        for (int[] shape : SHAPES) {
            for (Values values : Values.values()) {
                compare(ranks, shape, values);
            }
        }
        gathers(ranks);
        full(ranks);
    }

    /** The sum on GPUs against the sum on the host, twice, and with four ranks the peer rows against both. */
    private void compare(Ranks ranks, int[] shape, Values values) {
        int size = gpus.size();
        List<float[]> host;
        try (RankGroup group = RankGroup.open(size, TIMEOUT)) {
            host = group.each(rank -> {
                Tensor mine = values(rank.rank(), shape, values);
                rank.allReduce(mine);
                return mine.toFloats();
            });
        }
        for (int round = 0; round < 2; round++) {
            List<float[]> device = ranks.each(member -> {
                try (Workspace memory = member.backend().workspace("test")) {
                    Tensor mine = placed(member.backend(), memory, values(member.ranks().rank(), shape, values));
                    member.ranks().allReduce(mine);
                    return host(member.backend(), mine);
                }
            });
            for (int rank = 0; rank < size; rank++) {
                count(same(device.get(rank), host.get(rank)), "sum %s %s rank %d", Arrays.toString(shape), values, rank);
            }
        }
        if (size == 4) {
            peerRows(ranks, shape, values, host);
        }
    }

    private void peerRows(Ranks ranks, int[] shape, Values values, List<float[]> host) {
        List<float[]> own = ranks.each(member -> {
            try (Workspace memory = member.backend().workspace("test")) {
                RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
                Tensor partial = placed(member.backend(), memory, values(member.ranks().rank(), shape, values));
                RowShares shares = RowShares.padded(shape[0], 4, 1);
                reduction.reduce(member.ranks(), partial, shares);
                float[] rows = host(member.backend(), reduction.reduce(member.ranks(), partial, shares));
                reduction.report().fallback().ifPresent(reason -> say("no peer rows: %s", reason));
                reduction.close();
                return rows;
            }
        });
        RowShares shares = RowShares.padded(shape[0], 4, 1);
        for (int rank = 0; rank < 4; rank++) {
            count(same(own.get(rank), Arrays.copyOfRange(host.get(rank), shares.from(rank) * shape[1], shares.to(rank) * shape[1])),
                    "peer rows %s %s rank %d", Arrays.toString(shape), values, rank);
        }
    }

    private void gathers(Ranks ranks) {
        int size = gpus.size();
        for (int columns : new int[] {1, 77, 5376}) {
            ranks.each(member -> {
                try (Workspace memory = member.backend().workspace("test")) {
                    Tensor whole = memory.f32(3L * size, columns);
                    member.ranks().allGather(placed(member.backend(), memory, values(member.ranks().rank(), new int[] {3, columns}, Values.WIDE)), whole);
                    float[] got = host(member.backend(), whole);
                    synchronized (this) {
                        for (int from = 0; from < size; from++) {
                            count(same(Arrays.copyOfRange(got, 3 * from * columns, 3 * (from + 1) * columns),
                                    values(from, new int[] {3, columns}, Values.WIDE).toFloats()), "gather %d from %d", columns, from);
                        }
                    }
                    return 0;
                }
            });
        }
    }

    /** The shape of a full-size step: seconds, and the same bits twice. */
    private void full(Ranks ranks) {
        int[] shape = {34560, 5376};
        List<String> lines = ranks.each(member -> {
            Backend backend = member.backend();
            try (Workspace memory = backend.workspace("test")) {
                Tensor start = memory.f32(shape[0], shape[1]);
                Tensor work = memory.f32(shape[0], shape[1]);
                backend.copy(many(member.ranks().rank(), shape), start);
                backend.copy(start, work);
                member.ranks().allReduce(work);
                float[] first = host(backend, work);
                double sum = seconds(backend, () -> {
                    backend.copy(start, work);
                    member.ranks().allReduce(work);
                });
                boolean again = same(host(backend, work), first);
                double copy = seconds(backend, () -> backend.copy(start, work));
                String line = String.format(Locale.ROOT, "rank %d: all-reduce of %d bytes %.3f ms (with a copy of %.3f ms taken off), same bits again: %s",
                        member.ranks().rank(), 4L * shape[0] * shape[1], (sum - copy) * 1e3, copy * 1e3, again);
                return member.ranks().size() == 4 ? line + "\n  " + fullPeer(member, start, first) : line;
            }
        });
        lines.forEach(line -> say("%s", line));
    }

    private static String fullPeer(Member member, Tensor start, float[] whole) {
        RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
        RowShares shares = RowShares.padded(start.size(0), 4, 1);
        Tensor rows = reduction.reduce(member.ranks(), start, shares);
        double seconds = seconds(member.backend(), () -> reduction.reduce(member.ranks(), start, shares));
        int n = whole.length / 4;
        int rank = member.ranks().rank();
        boolean equal = same(host(member.backend(), rows), Arrays.copyOfRange(whole, rank * n, (rank + 1) * n));
        RowReduction.Report report = reduction.report();
        reduction.close();
        return String.format(Locale.ROOT, "peer rows %.3f ms, the bits of the all-reduce: %s, setup %.3f s, %d bytes, %d peer calls, fallback %s",
                seconds * 1e3, equal, report.setupSeconds(), report.bufferBytes(), report.peerCalls(), report.fallback());
    }

    /** Mean seconds on the device. */
    private static double seconds(Backend backend, Runnable work) {
        work.run();
        try (TimeMark from = backend.mark()) {
            for (int i = 0; i < TIMED; i++) {
                work.run();
            }
            try (TimeMark to = backend.mark()) {
                backend.finish();
                return to.secondsSince(from) / TIMED;
            }
        }
    }

    private void count(boolean good, String what, Object... values) {
        agree += good ? 1 : 0;
        differ += good ? 0 : 1;
        if (!good) {
            say("DIFFERS " + what, values);
        }
    }

    private static boolean same(float[] a, float[] b) {
        if (a.length != b.length) {
            return false;
        }
        for (int i = 0; i < a.length; i++) {
            // A NaN's payload is not told apart.
            if (Float.floatToIntBits(a[i]) != Float.floatToIntBits(b[i])) {
                return false;
            }
        }
        return true;
    }

    private static Tensor values(int rank, int[] shape, Values values) {
        Random random = new Random(31L * rank + 7L * shape[0] + shape[1]);
        float[] x = new float[shape[0] * shape[1]];
        for (int i = 0; i < x.length; i++) {
            x[i] = values.next(random);
        }
        return Tensor.ofFloats(x, shape[0], shape[1]);
    }

    /** Uniform in [-1, 1), cheap to make. */
    private static Tensor many(int rank, int[] shape) {
        float[] x = new float[shape[0] * shape[1]];
        long state = 0x9E3779B97F4A7C15L * (rank + 1);
        for (int i = 0; i < x.length; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            x[i] = (int) (state >>> 32) * 0x1p-31f;
        }
        return Tensor.ofFloats(x, shape[0], shape[1]);
    }

    private static Tensor placed(Backend backend, Workspace memory, Tensor host) {
        Tensor t = memory.f32(host.shape().toArray());
        backend.copy(host, t);
        return t;
    }

    private static float[] host(Backend backend, Tensor t) {
        Tensor copy = Tensor.ofFloats(new float[Math.toIntExact(t.elements())], t.shape().toArray());
        backend.copy(t, copy);
        return copy.toFloats();
    }

    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
