package io.kinema.compute.reference;

import io.kinema.compute.ConvolutionOps;
import io.kinema.compute.Tensor;
import java.util.Arrays;
import java.util.Optional;

/** Convolutions as direct sums in FP64. */
final class ReferenceConvolutions implements ConvolutionOps {

    @Override
    public void conv1d(Tensor x, Conv1d conv, Tensor out) {
        int inputs = x.size(1);
        int length = x.size(2);
        int outputs = out.size(1);
        int outLength = out.size(2);
        int taps = conv.w().size(2);
        float[] signal = HostArrays.floats(x);
        float[] w = HostArrays.floats(conv.w());
        float[] bias = HostArrays.floatsOr(conv.bias(), outputs, 0);
        float[] result = new float[Math.toIntExact(out.elements())];
        double[] sum = new double[outLength];
        for (int row = 0; row < x.size(0) * outputs; row++) {
            int o = row % outputs;
            Arrays.fill(sum, 0);
            for (int i = 0; i < inputs; i++) {
                int from = (row / outputs * inputs + i) * length;
                for (int j = 0; j < taps; j++) {
                    addTap(signal, from, length, w[(o * inputs + i) * taps + j], j * conv.dilation() - conv.padLeft(), conv.stride(), sum);
                }
            }
            for (int l = 0; l < outLength; l++) {
                result[row * outLength + l] = (float) (sum[l] + bias[o]);
            }
        }
        HostArrays.store(result, out);
    }

    /** {@code sum[l] += weight * signal[l * stride + shift]} where that sample exists. */
    private static void addTap(float[] signal, int from, int length, double weight, int shift, int stride, double[] sum) {
        for (int l = 0; l < sum.length; l++) {
            int at = l * stride + shift;
            if (at >= 0 && at < length) {
                sum[l] += weight * signal[from + at];
            }
        }
    }

    @Override
    public void convTranspose1d(Tensor x, Tensor w, Optional<Tensor> bias, int stride, int padding, Tensor out) {
        int inputs = x.size(1);
        int length = x.size(2);
        int outputs = out.size(1);
        int outLength = out.size(2);
        int taps = w.size(2);
        float[] signal = HostArrays.floats(x);
        float[] weights = HostArrays.floats(w);
        float[] shifts = HostArrays.floatsOr(bias, outputs, 0);
        float[] result = new float[Math.toIntExact(out.elements())];
        for (int row = 0; row < x.size(0) * outputs; row++) {
            int o = row % outputs;
            double[] full = new double[(length - 1) * stride + taps];
            for (int i = 0; i < inputs; i++) {
                int from = (row / outputs * inputs + i) * length;
                for (int j = 0; j < taps; j++) {
                    double weight = weights[(i * outputs + o) * taps + j];
                    for (int l = 0; l < length; l++) {
                        full[l * stride + j] += weight * signal[from + l];
                    }
                }
            }
            for (int l = 0; l < outLength; l++) {
                result[row * outLength + l] = (float) (full[l + padding] + shifts[o]);
            }
        }
        HostArrays.store(result, out);
    }

    @Override
    public void conv3d(Tensor x, Conv3d conv, Tensor out) {
        PaddedVideo padded = PaddedVideo.of(x, conv);
        int inputs = x.size(0);
        int outputs = out.size(0);
        int taps = conv.w().size(2) * conv.w().size(3) * conv.w().size(4);
        float[] w = HostArrays.floats(conv.w());
        float[] bias = HostArrays.floatsOr(conv.bias(), outputs, 0);
        float[] result = new float[Math.toIntExact(out.elements())];
        int plane = out.size(2) * out.size(3);
        double[] sum = new double[plane];
        for (int o = 0; o < outputs; o++) {
            for (int t = 0; t < out.size(1); t++) {
                Arrays.fill(sum, bias[o]);
                for (int i = 0; i < inputs; i++) {
                    padded.correlate(i, t, conv, w, (o * inputs + i) * taps, out.size(3), sum);
                }
                for (int p = 0; p < plane; p++) {
                    result[(o * out.size(1) + t) * plane + p] = (float) sum[p];
                }
            }
        }
        HostArrays.store(result, out);
    }

    @Override
    public void antiAliasedSnake(Tensor x, AntiAlias filters, Tensor alpha, Tensor invBeta, Tensor out) {
        int channels = x.size(1);
        int length = x.size(2);
        float[] signal = HostArrays.floats(x);
        float[] up = HostArrays.floats(filters.upFilter());
        float[] down = HostArrays.floats(filters.downFilter());
        float[] a = HostArrays.floats(alpha);
        float[] b = HostArrays.floats(invBeta);
        float[] row = new float[length];
        for (int r = 0; r < x.size(0) * channels; r++) {
            System.arraycopy(signal, r * length, row, 0, length);
            float[] fine = upsample(row, up, filters.ratio());
            for (int i = 0; i < fine.length; i++) {
                fine[i] = ReferenceElementwise.snake(fine[i], a[r % channels], b[r % channels]);
            }
            System.arraycopy(downsample(fine, down, filters.ratio()), 0, signal, r * length, length);
        }
        HostArrays.store(signal, out);
    }

    /** Zero-stuffing interpolation over a replicated border; the border of k / ratio - 1 samples is cut off again. */
    private static float[] upsample(float[] row, float[] filter, int ratio) {
        int taps = filter.length;
        int border = taps / ratio - 1;
        int cut = border * ratio + (taps - ratio) / 2;
        float[] fine = new float[row.length * ratio];
        for (int i = 0; i < fine.length; i++) {
            double sum = 0;
            int first = Math.max(0, Math.ceilDiv(i + cut - taps + 1, ratio));
            int last = Math.min(row.length + 2 * border - 1, (i + cut) / ratio);
            for (int s = first; s <= last; s++) {
                sum += (double) row[Math.clamp(s - border, 0, row.length - 1)] * filter[i + cut - s * ratio];
            }
            fine[i] = (float) (ratio * sum);
        }
        return fine;
    }

    /** Low pass over a replicated border, every ratio-th sample. */
    private static float[] downsample(float[] fine, float[] filter, int ratio) {
        int taps = filter.length;
        int left = taps / 2 - (taps % 2 == 0 ? 1 : 0);
        float[] row = new float[fine.length / ratio];
        for (int i = 0; i < row.length; i++) {
            double sum = 0;
            for (int j = 0; j < taps; j++) {
                sum += (double) fine[Math.clamp(i * ratio + j - left, 0, fine.length - 1)] * filter[j];
            }
            row[i] = (float) sum;
        }
        return row;
    }
}
