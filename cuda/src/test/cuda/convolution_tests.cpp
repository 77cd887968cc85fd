#include "harness.hpp"

namespace {

struct Geometry {
    int32_t batch, inputs, frames, height, width;
    int32_t outputs, outFrames, outHeight, outWidth;
    int32_t kt, kh, kw;
    int32_t strideT, strideH, strideW;
    int32_t dilationT, dilationH, dilationW;
    int32_t padT, padTop, padLeft;
    int32_t reflect;
};

int source(int i, int size, bool reflect) {
    if (reflect && i < 0) {
        i = -i;
    } else if (reflect && i >= size) {
        i = 2 * (size - 1) - i;
    }
    return i >= 0 && i < size ? i : -1;
}

/** The input values under the kernel at one position, in the order of the weights. */
std::vector<float> window(const Geometry& g, const std::vector<float>& x, int b, int t, int y, int c) {
    std::vector<float> v;
    for (int i = 0; i < g.inputs; i++) {
        for (int a = 0; a < g.kt; a++) {
            for (int d = 0; d < g.kh; d++) {
                for (int e = 0; e < g.kw; e++) {
                    int frame = t * g.strideT + a * g.dilationT - g.padT;
                    int row = source(y * g.strideH + d * g.dilationH - g.padTop, g.height, g.reflect);
                    int column = source(c * g.strideW + e * g.dilationW - g.padLeft, g.width, g.reflect);
                    bool inside = frame >= 0 && frame < g.frames && row >= 0 && column >= 0;
                    v.push_back(inside ? x[((((size_t) b * g.inputs + i) * g.frames + frame) * g.height + row) * g.width + column] : 0);
                }
            }
        }
    }
    return v;
}

void convolve(const Geometry& g, const std::string& what) {
    int depth = g.inputs * g.kt * g.kh * g.kw;
    int positions = g.outFrames * g.outHeight * g.outWidth;
    Matrix x(g.batch * g.inputs, (int64_t) g.frames * g.height * g.width, F32);
    Matrix w(g.outputs, depth, F32);
    Matrix bias(1, g.outputs, F32);
    x.set(normal(x.rows * x.width));
    w.set(normal(g.outputs * depth));
    bias.set(normal(g.outputs));
    std::vector<double> expected((size_t) g.batch * g.outputs * positions);
    std::vector<float> columns((size_t) depth * positions);
    for (int b = 0; b < g.batch; b++) {
        for (int p = 0; p < positions; p++) {
            std::vector<float> v = window(g, x.host, b, p / (g.outHeight * g.outWidth), p / g.outWidth % g.outHeight, p % g.outWidth);
            for (int o = 0; o < g.outputs; o++) {
                double sum = bias.host[o];
                for (int k = 0; k < depth; k++) {
                    sum += (double) v[k] * w.host[(size_t) o * depth + k];
                }
                expected[((size_t) b * g.outputs + o) * positions + p] = sum;
            }
            if (b == 0) {
                for (int k = 0; k < depth; k++) {
                    columns[(size_t) k * positions + p] = v[k];
                }
            }
        }
    }
    Matrix out(g.batch * g.outputs, positions, F32);
    launch("kinema_conv_wide", {(unsigned) ceil_div(positions, 128), (unsigned) ceil_div(g.outputs, 64), (unsigned) g.batch}, {256, 1, 1}, 0, x.at(), w.at(), bias.at(),
           out.at(), g);
    expect_near("kinema_conv_wide", what, out.get(), expected, 3e-6);
    out.poison();
    launch("kinema_conv_narrow", {(unsigned) ceil_div(positions, 256), (unsigned) ceil_div(g.outputs, 16), (unsigned) g.batch}, {256, 1, 1}, 0, x.at(), w.at(), bias.at(),
           out.at(), g);
    expect_near("kinema_conv_narrow", what, out.get(), expected, 3e-6);
    for (int type : {F32, BF16}) {
        int first = positions / 3;
        int count = positions - first;
        Matrix part(depth, count, type, count + 8);
        launch("kinema_im2col", {(unsigned) ceil_div(count, 256), (unsigned) depth, 1}, {256, 1, 1}, 0, x.at(), part.at(), type, part.stride, (int64_t) first,
               (int64_t) count, g);
        std::vector<float> wanted;
        for (int k = 0; k < depth; k++) {
            for (int p = first; p < positions; p++) {
                wanted.push_back(rounded(columns[(size_t) k * positions + p], type));
            }
        }
        expect_equal("kinema_im2col", what, part.get(), wanted);
    }
}

void conv1d(int batch, int inputs, int outputs, int length, int taps, int stride, int dilation, int left, int right) {
    int out = (length + left + right - dilation * (taps - 1) - 1) / stride + 1;
    convolve({batch, inputs, 1, 1, length, outputs, 1, 1, out, 1, 1, taps, 1, 1, stride, 1, 1, dilation, 0, 0, left, 0},
             "1d " + std::to_string(inputs) + "->" + std::to_string(outputs) + " length " + std::to_string(length) + " taps " + std::to_string(taps));
}

void conv3d(int inputs, int outputs, int t, int h, int w, int kt, int kh, int kw, int st, int sh, int sw, int front, int pad, bool reflect) {
    int ot = (t + front - kt) / st + 1;
    int oh = (h + 2 * pad - kh) / sh + 1;
    int ow = (w + 2 * pad - kw) / sw + 1;
    convolve({1, inputs, t, h, w, outputs, ot, oh, ow, kt, kh, kw, st, sh, sw, 1, 1, 1, front, pad, pad, reflect ? 1 : 0},
             "3d " + std::to_string(inputs) + "->" + std::to_string(outputs) + " " + std::to_string(t) + "x" + std::to_string(h) + "x" + std::to_string(w) + " kernel " +
                     std::to_string(kt) + std::to_string(kh) + std::to_string(kw) + (reflect ? " reflect" : ""));
}

void transposed(int batch, int inputs, int outputs, int length, int taps, int stride, int padding) {
    int out_length = (length - 1) * stride - 2 * padding + taps;
    Matrix x(batch * inputs, length, F32);
    Matrix w(inputs, (int64_t) outputs * taps, F32);
    Matrix bias(1, outputs, F32);
    Matrix y(batch * outputs, out_length, F32);
    x.set(normal(batch * inputs * length));
    w.set(normal(inputs * outputs * taps));
    bias.set(normal(outputs));
    unsigned grid_x = (unsigned) ceil_div(ceil_div(out_length, stride) + 1, 64);
    launch("kinema_conv_transpose1d", {grid_x, (unsigned) ceil_div(outputs, 64), (unsigned) (batch * stride)}, {256, 1, 1}, 0, x.at(), w.at(), bias.at(), y.at(), batch,
           inputs, length, outputs, out_length, taps, stride, padding);
    std::vector<double> expected((size_t) batch * outputs * out_length);
    for (int b = 0; b < batch; b++) {
        for (int o = 0; o < outputs; o++) {
            std::vector<double> full((length - 1) * stride + taps);
            for (int i = 0; i < inputs; i++) {
                for (int l = 0; l < length; l++) {
                    for (int j = 0; j < taps; j++) {
                        full[l * stride + j] += (double) x.host[(b * inputs + i) * length + l] * w.host[((size_t) i * outputs + o) * taps + j];
                    }
                }
            }
            for (int l = 0; l < out_length; l++) {
                expected[((size_t) b * outputs + o) * out_length + l] = full[l + padding] + bias.host[o];
            }
        }
    }
    expect_near("kinema_conv_transpose1d", std::to_string(inputs) + "->" + std::to_string(outputs) + " length " + std::to_string(length) + " taps " + std::to_string(taps) +
                " stride " + std::to_string(stride) + " padding " + std::to_string(padding), y.get(), expected, 3e-6);
}

void anti_aliased(int batch, int channels, int length, int up_taps, int down_taps, int ratio) {
    Matrix x(batch * channels, length, F32);
    Matrix up(1, up_taps, F32);
    Matrix down(1, down_taps, F32);
    Matrix alpha(1, channels, F32);
    Matrix beta(1, channels, F32);
    Matrix y(batch * channels, length, F32);
    x.set(normal(batch * channels * length));
    up.set(normal(up_taps, 0.3f));
    down.set(normal(down_taps, 0.3f));
    alpha.set(normal(channels));
    beta.set(normal(channels));
    unsigned shared = 4 * (255 * ratio + down_taps);
    launch("kinema_anti_aliased_snake", {(unsigned) ceil_div(length, 256), (unsigned) (batch * channels), 1}, {256, 1, 1}, shared, x.at(), up.at(), up_taps, down.at(),
           down_taps, ratio, alpha.at(), beta.at(), y.at(), length, channels, batch * channels);
    int border = up_taps / ratio - 1;
    int cut = border * ratio + (up_taps - ratio) / 2;
    int left = down_taps / 2 - (down_taps % 2 == 0 ? 1 : 0);
    std::vector<double> expected;
    for (int r = 0; r < batch * channels; r++) {
        // Zero-stuffing: sample s of the padded row adds filter[j] at s * ratio + j.
        std::vector<double> stuffed((length + 2 * border) * ratio + up_taps + ratio);
        for (int s = 0; s < length + 2 * border; s++) {
            int at = s - border < 0 ? 0 : s - border >= length ? length - 1 : s - border;
            for (int j = 0; j < up_taps; j++) {
                stuffed[s * ratio + j] += (double) x.host[r * length + at] * up.host[j];
            }
        }
        std::vector<double> fine(length * ratio);
        for (int i = 0; i < length * ratio; i++) {
            double v = ratio * stuffed[i + cut];
            double sine = std::sin(alpha.host[r % channels] * v);
            fine[i] = v + beta.host[r % channels] * sine * sine;
        }
        for (int i = 0; i < length; i++) {
            double sum = 0;
            for (int j = 0; j < down_taps; j++) {
                int at = i * ratio + j - left;
                at = at < 0 ? 0 : at >= length * ratio ? length * ratio - 1 : at;
                sum += fine[at] * down.host[j];
            }
            expected.push_back(sum);
        }
    }
    expect_near("kinema_anti_aliased_snake", std::to_string(length) + " samples, " + std::to_string(up_taps) + " and " + std::to_string(down_taps) + " taps, ratio " +
                std::to_string(ratio), y.get(), expected, 3e-6);
}

}  // namespace

void convolution_tests() {
    conv1d(1, 1, 1, 1, 1, 1, 1, 0, 0);
    conv1d(2, 3, 5, 50, 7, 1, 3, 9, 9);
    conv1d(1, 17, 16, 301, 11, 1, 5, 25, 25);
    conv1d(2, 32, 70, 130, 4, 2, 1, 1, 1);
    conv1d(1, 64, 64, 512, 3, 1, 1, 1, 1);
    conv3d(3, 20, 3, 9, 11, 3, 3, 3, 1, 1, 1, 2, 1, true);
    conv3d(5, 65, 4, 8, 12, 3, 3, 3, 2, 2, 2, 2, 1, false);
    conv3d(16, 8, 1, 16, 16, 1, 3, 3, 1, 2, 2, 0, 1, true);
    conv3d(6, 10, 5, 4, 4, 2, 1, 1, 2, 1, 1, 1, 0, false);
    if (!small_shapes) {
        conv3d(64, 130, 3, 20, 33, 3, 3, 3, 1, 1, 1, 2, 1, true);
    }
    transposed(1, 1, 1, 1, 1, 1, 0);
    transposed(2, 5, 3, 33, 9, 5, 2);
    transposed(1, 40, 70, 100, 4, 2, 1);
    transposed(1, 8, 8, 64, 3, 4, 0);
    transposed(1, 64, 32, 130, 16, 8, 4);
    anti_aliased(1, 1, 1, 12, 12, 2);
    anti_aliased(2, 3, 300, 12, 12, 2);
    anti_aliased(1, 2, 513, 9, 7, 3);
    anti_aliased(1, 2, 100, 4, 1, 1);
}
