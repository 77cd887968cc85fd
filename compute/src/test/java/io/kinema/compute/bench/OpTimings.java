package io.kinema.compute.bench;

import io.kinema.compute.ConvolutionOps.AntiAlias;
import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.ConvolutionOps.Conv3d;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.ElementwiseOps.RowGate;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.testing.Values;
import io.kinema.weights.DType;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * Times single operations of the cpu backend at the shapes of small video networks and prints the best of many runs, beside
 * the rate of large matrix products measured in the same run. A program, not a test.
 */
public final class OpTimings {
    private static final double SECONDS_EACH = 0.4;
    private static final long BATCH_NANOS = 3_000_000;

    private final CpuBackend backend;
    private final double peak;
    private final String filter;
    private final Values v = new Values(1);

    private OpTimings(CpuBackend backend, String filter) {
        this.backend = backend;
        this.filter = filter;
        this.peak = backend.sgemmRate(1);
        System.out.printf("%s%nsgemm 1024^3 per thread: %.1f GFLOP/s%n", backend.facts(), peak / 1e9);
    }

    /** Arguments: threads (default 2), then a part of the names to run. */
    public static void main(String[] arguments) {
        int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2;
        try (CpuBackend backend = CpuBackend.open(threads)) {
            OpTimings timings = new OpTimings(backend, arguments.length > 1 ? arguments[1] : "");
            timings.linears();
            timings.attentions();
            timings.rows();
            timings.audio();
            timings.video();
        }
    }

    /** Wall time, or with one thread its processor time, which other programs disturb less. */
    private long clock() {
        return backend.threads() == 1 ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() : System.nanoTime();
    }

    /** Prints the best time, the rate of the useful work and its share of the matrix product rate. */
    private void time(String name, double flops, Runnable op) {
        if (!name.contains(filter)) {
            return;
        }
        long end = clock() + (long) (SECONDS_EACH * 1e9);
        double best = Double.MAX_VALUE;
        long batch = 1;
        for (int rounds = 0; clock() < end || rounds < 20; rounds++) {
            long start = clock();
            for (long i = 0; i < batch; i++) {
                op.run();
            }
            long taken = clock() - start;
            best = Math.min(best, (double) taken / batch);
            batch = Math.clamp(BATCH_NANOS * batch / Math.max(1, taken), 1, 10_000);
        }
        if (flops > 0) {
            System.out.printf("%-46s %9.1f us %7.1f GFLOP/s %3.0f%%%n", name, best / 1e3, flops / best, 100 * flops / best * 1e9 / peak);
        } else {
            System.out.printf("%-46s %9.1f us%n", name, best / 1e3);
        }
    }

    private void linears() {
        for (int[] s : new int[][] {{930, 192, 768}, {930, 256, 192}, {930, 192, 1024}, {930, 512, 192}, {2790, 192, 768}, {60, 64, 96}, {1, 192, 3456}}) {
            for (DType dtype : new DType[] {DType.F32, DType.BF16}) {
                Operand x = Operand.of(v.normal(s[0], s[1]));
                DenseWeight w = new DenseWeight(v.normal(dtype, s[2], s[1]));
                Tensor out = Values.empty(s[0], s[2]);
                time("linear [%d,%d]x[%d] %s".formatted(s[0], s[1], s[2], dtype), 2.0 * s[0] * s[1] * s[2], () -> backend.linear(x, w, out));
            }
        }
        Operand x = Operand.of(v.normal(930, 192));
        DenseWeight w = new DenseWeight(v.normal(768, 192));
        Optional<Tensor> bias = Optional.of(v.normal(768));
        Tensor out = Values.empty(930, 768);
        time("linear [930,192]x[768] F32 with bias", 2.0 * 930 * 192 * 768, () -> backend.linear(x, w, bias, out));
    }

    private void attentions() {
        for (int[] s : new int[][] {{930, 4, 4, 64}, {2790, 4, 4, 64}, {1040, 3, 3, 64}, {60, 2, 1, 32}, {207, 2, 2, 64}}) {
            int width = (s[1] + 2 * s[2]) * s[3];
            Tensor qkv = v.normal(s[0], width);
            Tensor q = qkv.slice(1, 0, (long) s[1] * s[3]).splitLast(s[1], s[3]);
            Tensor k = qkv.slice(1, (long) s[1] * s[3], (long) (s[1] + s[2]) * s[3]).splitLast(s[2], s[3]);
            Tensor values = qkv.slice(1, (long) (s[1] + s[2]) * s[3], width).splitLast(s[2], s[3]);
            Tensor out = Values.empty(s[0], s[1], s[3]);
            time("attention %d rows, %d heads of %d".formatted(s[0], s[1], s[3]), 4.0 * s[0] * s[0] * s[1] * s[3],
                    () -> backend.attention(q, k, values, 0.125f, false, out));
        }
    }

    private void rows() {
        Tensor x = v.normal(930, 192);
        Tensor y = Values.empty(930, 192);
        Tensor w = v.normal(192);
        Tensor tables = v.normal(4, 384);
        Tensor index = v.index(930, 4);
        time("rmsNorm [930,192]", 0, () -> backend.rmsNorm(x, Optional.of(w), 1e-5f, y));
        time("rmsNormModulate [930,192]", 0, () -> backend.rmsNormModulate(x, w, 1e-5f,
                new RowModulation(tables.slice(1, 0, 192), tables.slice(1, 192, 384), index), y));
        time("layerNorm [930,192]", 0, () -> backend.layerNorm(x, Optional.of(w), Optional.of(w), 1e-5f, y));
        time("gatedResidualAdd [930,192]", 0, () -> backend.gatedResidualAdd(y, x,
                Optional.of(new RowGate(tables.slice(1, 0, 192), Optional.of(index)))));
        Tensor heads = v.normal(930, 768).slice(1, 0, 256).splitLast(4, 64);
        Rotary rotary = new Rotary(v.uniform(-1, 1, 930, 48), v.uniform(-1, 1, 930, 48));
        HeadNorm norm = new HeadNorm(Optional.of(v.normal(64)), 1e-5f);
        time("headNormRotary [930,4,64]", 0, () -> backend.headNormRotary(heads, Optional.of(norm), Optional.of(rotary), heads));
        Tensor both = v.normal(930, 1024);
        Tensor hidden = Values.empty(930, 512);
        time("swiglu [930,512]", 0, () -> backend.swiglu(both.slice(1, 0, 512), both.slice(1, 512, 1024), hidden));
        time("silu [930,512]", 0, () -> backend.silu(hidden, hidden));
        time("add [930,512]", 0, () -> backend.add(hidden, hidden, hidden));
        Tensor image = Values.empty(3, 39, 256, 256);
        Tensor pixels = v.normal(39, 16, 16, 3, 16, 16).permute(3, 0, 1, 4, 2, 5);
        time("copy of pixel patches [39,256,256,3]", 0, () -> backend.copy(pixels, Values.empty(3, 39, 16, 16, 16, 16)));
        time("scale [3,39,256,256]", 0, () -> backend.scale(image, 0.5f, image));
    }

    private void audio() {
        int[][] stages = {{64, 1035}, {32, 5175}, {16, 20_700}, {8, 82_800}, {4, 165_600}};
        for (int[] s : stages) {
            Tensor x = v.normal(2, s[0], s[1]);
            Tensor out = Values.empty(2, s[0], s[1]);
            for (int taps : new int[] {3, 7}) {
                Conv1d conv = new Conv1d(v.normal(s[0], s[0], taps), Optional.of(v.normal(s[0])), 1, 1, taps / 2, taps / 2);
                time("conv1d [2,%d,%d] k%d".formatted(s[0], s[1], taps), 4.0 * s[0] * s[0] * taps * s[1], () -> backend.conv1d(x, conv, out));
            }
            AntiAlias filters = new AntiAlias(v.scaled(DType.F32, 0.3, 12), v.scaled(DType.F32, 0.3, 12), 2);
            Tensor alpha = v.uniform(0.5, 2, s[0]);
            time("antiAliasedSnake [2,%d,%d]".formatted(s[0], s[1]), 0, () -> backend.antiAliasedSnake(x, filters, alpha, alpha, out));
        }
        int[][] ups = {{128, 207, 64, 9, 5}, {64, 1035, 32, 9, 5}, {32, 5175, 16, 8, 4}, {16, 20_700, 8, 8, 4}, {8, 82_800, 4, 4, 2}};
        for (int[] s : ups) {
            Tensor x = v.normal(2, s[0], s[1]);
            Tensor w = v.normal(s[0], s[2], s[3]);
            int padding = (s[3] - s[4]) / 2;
            Tensor out = Values.empty(2, s[2], (s[1] - 1L) * s[4] - 2L * padding + s[3]);
            time("convTranspose1d [2,%d,%d]x[%d]".formatted(s[0], s[1], s[2]), 4.0 * s[0] * s[1] * s[2] * s[3],
                    () -> backend.convTranspose1d(x, w, Optional.empty(), s[4], padding, out));
        }
        Tensor x = v.normal(2, 4, 165_600);
        Tensor out = Values.empty(2, 1, 165_600);
        Conv1d last = new Conv1d(v.normal(1, 4, 7), Optional.empty(), 1, 1, 3, 3);
        time("conv1d [2,4,165600] to 1", 4.0 * 4 * 7 * 165_600, () -> backend.conv1d(x, last, out));
    }

    private void video() {
        for (int[] s : new int[][] {{3, 17, 256, 8}, {8, 17, 256, 8}, {16, 17, 128, 16}, {48, 9, 64, 48}, {64, 5, 32, 64}}) {
            Tensor x = v.normal(s[0], s[1], s[2], s[2]);
            Tensor out = Values.empty(s[3], s[1], s[2], s[2]);
            Conv3d conv = new Conv3d(v.normal(s[3], s[0], 3, 3, 3), Optional.of(v.normal(s[3])), 1, 1, 1, 2, 1, 1, 1, 1, SpatialPadding.REFLECT);
            time("conv3d [%d,%d,%d,%d]x[%d]".formatted(s[0], s[1], s[2], s[2], s[3]), 54.0 * s[0] * s[1] * s[2] * s[2] * s[3],
                    () -> backend.conv3d(x, conv, out));
        }
        Tensor x = v.normal(8, 17, 256, 256);
        time("groupNormPerFrame [8,17,256,256]", 0, () -> backend.groupNormPerFrame(x, 4, v.normal(8), v.normal(8), 1e-6f, true, x));
    }
}
