package io.kinema.compute.testing;

import io.kinema.compute.ConvolutionOps.AntiAlias;
import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.ConvolutionOps.Conv3d;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Cases for convolutions and resampling: strides, dilations, paddings and lengths around block borders. */
final class ConvolutionCases {
    private ConvolutionCases() {
    }

    static List<OpCase> all() {
        List<OpCase> cases = new ArrayList<>();
        // batch, inputs, length, outputs, taps, stride, dilation, padLeft, padRight
        for (int[] s : new int[][] {{1, 1, 1, 1, 1, 1, 1, 0, 0}, {2, 3, 10, 5, 3, 1, 1, 1, 1}, {1, 4, 5003, 4, 7, 1, 3, 9, 9},
                {2, 8, 9000, 8, 3, 1, 1, 1, 1}, {1, 2, 333, 3, 8, 4, 1, 2, 2}, {1, 32, 210, 70, 7, 1, 1, 3, 3}, {1, 64, 100, 40, 3, 2, 2, 4, 0},
                {1, 5, 3, 6, 7, 1, 9, 27, 27}, {2, 16, 4100, 1, 7, 1, 1, 3, 3}, {1, 12, 777, 11, 5, 3, 2, 0, 7}}) {
            cases.add(conv1d(s));
        }
        // batch, inputs, length, outputs, taps, stride, padding
        for (int[] s : new int[][] {{1, 1, 1, 1, 1, 1, 0}, {2, 3, 10, 5, 9, 5, 2}, {1, 8, 3000, 4, 8, 4, 2}, {1, 6, 77, 3, 4, 2, 1}, {1, 4, 5, 2, 3, 4, 0},
                {1, 2, 9, 3, 7, 2, 5}}) {
            cases.add(convTranspose1d(s));
        }
        cases.add(conv3d(new long[] {3, 4, 20, 30}, new long[] {8, 3, 3, 3, 3}, new int[] {1, 1, 1}, 2, new int[] {1, 1, 1, 1}, SpatialPadding.REFLECT));
        cases.add(conv3d(new long[] {8, 5, 16, 17}, new long[] {5, 8, 3, 3, 3}, new int[] {2, 2, 2}, 2, new int[] {0, 1, 0, 1}, SpatialPadding.REFLECT));
        cases.add(conv3d(new long[] {4, 1, 9, 9}, new long[] {40, 4, 1, 1, 1}, new int[] {1, 1, 1}, 0, new int[] {0, 0, 0, 0}, SpatialPadding.ZEROS));
        cases.add(conv3d(new long[] {2, 3, 7, 40}, new long[] {3, 2, 2, 3, 5}, new int[] {1, 1, 3}, 1, new int[] {2, 0, 3, 1}, SpatialPadding.ZEROS));
        // channels, length, up taps, down taps, ratio
        for (int[] s : new int[][] {{3, 1, 12, 12, 2}, {2, 7, 12, 12, 2}, {3, 5000, 12, 12, 2}, {2, 2049, 12, 12, 2}, {2, 40, 9, 7, 3}, {1, 4100, 3, 4, 2}, {2, 30, 5, 5, 1}}) {
            cases.add(antiAliasedSnake(s, false));
            cases.add(antiAliasedSnake(s, true));
        }
        return cases;
    }

    private static OpCase conv1d(int[] s) {
        return new OpCase("conv1d " + java.util.Arrays.toString(s), OpCases.FP32, b -> {
            Values v = new Values(30);
            int length = (s[2] + s[7] + s[8] - s[6] * (s[4] - 1) - 1) / s[5] + 1;
            Tensor out = Values.empty(s[0], s[3], length);
            Optional<Tensor> bias = s[3] % 2 == 0 ? Optional.of(v.normal(s[3])) : Optional.empty();
            b.conv1d(v.normal(s[0], s[1], s[2]), new Conv1d(v.normal(s[3], s[1], s[4]), bias, s[5], s[6], s[7], s[8]), out);
            return out;
        });
    }

    private static OpCase convTranspose1d(int[] s) {
        return new OpCase("convTranspose1d " + java.util.Arrays.toString(s), OpCases.FP32, b -> {
            Values v = new Values(31);
            Tensor out = Values.empty(s[0], s[3], (s[2] - 1L) * s[5] - 2L * s[6] + s[4]);
            Optional<Tensor> bias = s[3] % 2 == 1 ? Optional.of(v.normal(s[3])) : Optional.empty();
            b.convTranspose1d(v.normal(s[0], s[1], s[2]), v.normal(s[1], s[3], s[4]), bias, s[5], s[6], out);
            return out;
        });
    }

    /** pads: top, bottom, left, right. */
    private static OpCase conv3d(long[] x, long[] w, int[] stride, int front, int[] pads, SpatialPadding mode) {
        return new OpCase("conv3d " + java.util.Arrays.toString(x) + " by " + java.util.Arrays.toString(w), OpCases.FP32, b -> {
            Values v = new Values(32);
            Tensor out = Values.empty(w[0], (x[1] + front - w[2]) / stride[0] + 1, (x[2] + pads[0] + pads[1] - w[3]) / stride[1] + 1,
                    (x[3] + pads[2] + pads[3] - w[4]) / stride[2] + 1);
            b.conv3d(v.normal(x), new Conv3d(v.normal(w), Optional.of(v.normal(w[0])), stride[0], stride[1], stride[2], front,
                    pads[0], pads[1], pads[2], pads[3], mode), out);
            return out;
        });
    }

    private static OpCase antiAliasedSnake(int[] s, boolean inPlace) {
        return new OpCase("antiAliasedSnake " + java.util.Arrays.toString(s) + (inPlace ? " in place" : ""), 2e-6, b -> {
            Values v = new Values(33);
            Tensor x = v.normal(2, s[0], s[1]);
            Tensor out = inPlace ? x : Values.empty(2, s[0], s[1]);
            AntiAlias filters = new AntiAlias(v.scaled(DType.F32, 0.4, s[2]), v.scaled(DType.F32, 0.4, s[3]), s[4]);
            b.antiAliasedSnake(x, filters, v.uniform(0.2, 5, s[0]), v.uniform(0.1, 2, s[0]), out);
            return out;
        });
    }
}
