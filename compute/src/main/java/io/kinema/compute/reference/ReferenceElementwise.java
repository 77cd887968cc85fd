package io.kinema.compute.reference;

import io.kinema.compute.ElementwiseOps;
import io.kinema.compute.ErrorFunction;
import io.kinema.compute.Tensor;
import java.util.Optional;

/** Element-wise operations, one scalar function each. */
final class ReferenceElementwise implements ElementwiseOps {

    /** A function of one float. */
    private interface Unary {
        float apply(float x);
    }

    /** A function of two floats. */
    private interface Binary {
        float apply(float a, float b);
    }

    private static void map(Tensor x, Tensor out, Unary f) {
        float[] values = HostArrays.floats(x);
        for (int i = 0; i < values.length; i++) {
            values[i] = f.apply(values[i]);
        }
        HostArrays.store(values, out);
    }

    private static void map(Tensor a, Tensor b, Tensor out, Binary f) {
        float[] left = HostArrays.floats(a);
        float[] right = HostArrays.floats(b);
        for (int i = 0; i < left.length; i++) {
            left[i] = f.apply(left[i], right[i]);
        }
        HostArrays.store(left, out);
    }

    @Override
    public void swiglu(Tensor gate, Tensor up, Tensor out) {
        map(gate, up, out, (g, u) -> Activations.silu(g) * u);
    }

    @Override
    public void geglu(Tensor gate, Tensor up, Tensor out) {
        map(gate, up, out, (g, u) -> Activations.geluTanh(g) * u);
    }

    @Override
    public void silu(Tensor x, Tensor out) {
        map(x, out, Activations::silu);
    }

    @Override
    public void geluTanh(Tensor x, Tensor out) {
        map(x, out, Activations::geluTanh);
    }

    @Override
    public void geluErf(Tensor x, Tensor out) {
        map(x, out, ErrorFunction::gelu);
    }

    @Override
    public void add(Tensor a, Tensor b, Tensor out) {
        map(a, b, out, Float::sum);
    }

    @Override
    public void scale(Tensor x, float factor, Tensor out) {
        map(x, out, value -> value * factor);
    }

    @Override
    public void addScaled(Tensor x, float factor, Tensor out) {
        map(x, out, out, (delta, sum) -> Math.fma(factor, delta, sum));
    }

    @Override
    public void clamp(Tensor x, float low, float high, Tensor out) {
        map(x, out, value -> Math.min(Math.max(value, low), high));
    }

    @Override
    public void gatedResidualAdd(Tensor residual, Tensor x, Optional<RowGate> gate) {
        int d = residual.size(1);
        float[] sum = HostArrays.floats(residual);
        float[] values = HostArrays.floats(x);
        float[] table = HostArrays.floatsOr(gate.map(RowGate::table), d, 1);
        int[] row = gate.flatMap(RowGate::rowIndex).map(HostArrays::ints).orElseGet(() -> new int[residual.size(0)]);
        for (int i = 0; i < sum.length; i++) {
            float product = table[row[i / d] * d + i % d] * values[i];
            sum[i] += product;
        }
        HostArrays.store(sum, residual);
    }

    @Override
    public void snake(Tensor x, Tensor alpha, Tensor invBeta, Tensor out) {
        float[] values = HostArrays.floats(x);
        float[] a = HostArrays.floats(alpha);
        float[] b = HostArrays.floats(invBeta);
        int length = x.size(2);
        for (int i = 0; i < values.length; i++) {
            int channel = i / length % a.length;
            values[i] = snake(values[i], a[channel], b[channel]);
        }
        HostArrays.store(values, out);
    }

    /** The argument alpha * x is an FP32 product; its sine, square and sum follow in FP64 and are rounded once. */
    static float snake(float x, float alpha, float invBeta) {
        double sine = Math.sin(alpha * x);
        return (float) (x + invBeta * sine * sine);
    }

    @Override
    public void channelAffine(Tensor x, Tensor scale, Tensor shift, Tensor out) {
        float[] values = HostArrays.floats(x);
        float[] factor = HostArrays.floats(scale);
        float[] term = HostArrays.floats(shift);
        int inner = factor.length == 0 ? 0 : values.length / factor.length;
        for (int i = 0; i < values.length; i++) {
            float product = values[i] * factor[i / inner];
            values[i] = product + term[i / inner];
        }
        HostArrays.store(values, out);
    }
}
