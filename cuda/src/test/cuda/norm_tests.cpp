#include "harness.hpp"

namespace {

struct Form {
    int64_t rows, width, stride, offset;
    std::string text() const { return std::to_string(rows) + "x" + std::to_string(width) + " stride " + std::to_string(stride); }
};

std::vector<Form> forms() {
    std::vector<Form> all = {{1, 1, 1, 0}, {4, 7, 9, 1}, {5, 64, 64, 0}, {3, 192, 192, 0}, {6, 1023, 1024, 0}, {3, 5120, 5120, 0}, {4, 5376, 5376, 0}, {3, 7001, 7001, 0}};
    if (!small_shapes) {
        all.push_back({200, 2048, 2048, 0});
        all.push_back({64, 14336, 14336, 0});
    }
    return all;
}

double inverse_rms(const float* x, int64_t d, float eps) {
    double squares = 0;
    for (int64_t i = 0; i < d; i++) {
        squares += (double) x[i] * x[i];
    }
    return 1 / std::sqrt(squares / d + eps);
}

void rms(const Form& f, int in, int weights, int out, bool in_place) {
    Matrix x(f.rows, f.width, in, f.stride, f.offset);
    Matrix w(1, f.width, weights < 0 ? F32 : weights);
    Matrix y(f.rows, f.width, out, f.stride, f.offset);
    x.set(normal(f.rows * f.width, 2));
    w.set(normal(f.width, 0.5f, 1));
    Matrix& to = in_place ? x : y;
    Shape s = rule_r(f.rows, f.width);
    launch("kinema_rms_norm", s.grid, s.block, 0, x.at(), x.view(), in, weights < 0 ? (CUdeviceptr) 0 : w.at(), weights < 0 ? 0 : weights, 1e-5f, to.at(),
           to.view(), to.type, f.rows, f.width);
    std::vector<double> expected;
    for (int64_t r = 0; r < f.rows; r++) {
        double inverse = inverse_rms(&x.host[r * f.width], f.width, 1e-5f);
        for (int64_t c = 0; c < f.width; c++) {
            expected.push_back(x.host[r * f.width + c] * inverse * (weights < 0 ? 1 : w.host[c]));
        }
    }
    expect_near("kinema_rms_norm", std::string(name_of(in)) + "->" + name_of(to.type) + " " + f.text(), to.get(), expected, limit_of(to.type));
}

double power_of(float largest) {
    int e;
    std::frexp(largest, &e);
    return largest == 0 ? 1 : std::ldexp(1.0, e > 11 ? e - 11 : 0);
}

/** Rows of a warp each; with `prepared` an FP16 operand and its scales. */
void narrow(int64_t rows, int64_t width, int64_t stride, int weights, int out, bool prepared, float size) {
    Matrix x(rows, width, F32, stride);
    Matrix w(1, width, weights < 0 ? F32 : weights);
    Matrix y(rows, width, out, stride);
    Matrix scales(1, rows, F32);
    x.set(normal(rows * width, 2));
    w.set(normal(width, 0.5f * size, size));
    launch("kinema_rms_norm_narrow", {(unsigned) ceil_div(rows, 8), 1, 1}, {256, 1, 1}, 0, x.at(), x.stride, weights < 0 ? (CUdeviceptr) 0 : w.at(),
           weights < 0 ? 0 : weights, 1e-5f, y.at(), y.stride, out, prepared ? scales.at() : (CUdeviceptr) 0, rows, width);
    std::vector<double> expected;
    std::vector<float> powers;
    for (int64_t r = 0; r < rows; r++) {
        double inverse = inverse_rms(&x.host[r * width], width, 1e-5f);
        double largest = 0;
        for (int64_t c = 0; c < width; c++) {
            double v = x.host[r * width + c] * inverse * (weights < 0 ? 1 : w.host[c]);
            largest = std::fmax(largest, std::fabs(v));
            expected.push_back(v);
        }
        powers.push_back((float) power_of((float) largest));
    }
    std::string what = std::string(name_of(out)) + (prepared ? " prepared " : " ") + std::to_string(rows) + "x" + std::to_string(width);
    std::vector<float> got = y.get();
    if (prepared) {
        expect_equal("kinema_rms_norm_narrow", "scales " + what, scales.get(), powers);
        for (int64_t i = 0; i < rows * width; i++) {
            got[i] *= powers[i / width];
        }
    }
    expect_near("kinema_rms_norm_narrow", what, got, expected, limit_of(out));
}

void modulate(const Form& f, int out, bool prepared, float size) {
    int tables = 3;
    Matrix x(f.rows, f.width, F32, f.stride, f.offset);
    Matrix w(1, f.width, BF16);
    Matrix shift(tables, f.width, F32, 2 * f.width);
    Matrix scale(tables, f.width, F32, 2 * f.width);
    Matrix y(f.rows, f.width, out, f.stride, f.offset);
    x.set(normal(f.rows * f.width, 2));
    w.set(normal(f.width, 0.5f * size, size));
    shift.set(normal(tables * f.width));
    scale.set(normal(tables * f.width));
    std::vector<int32_t> index(f.rows);
    for (int32_t& i : index) {
        i = random_engine() % tables;
    }
    Buffer indices(index);
    Matrix scales(1, f.rows, F32);
    Shape s = rule_r(f.rows, f.width);
    if (prepared) {
        launch("kinema_rms_norm_modulate_prepare_f16", s.grid, s.block, 0, x.at(), x.stride, w.at(), (int) BF16, 1e-5f, shift.at(), shift.stride, scale.at(),
               scale.stride, indices.p, y.at(), y.stride, scales.at(), f.rows, f.width);
    } else {
        launch("kinema_rms_norm_modulate", s.grid, s.block, 0, x.at(), x.stride, w.at(), (int) BF16, 1e-5f, shift.at(), shift.stride, scale.at(), scale.stride,
               indices.p, y.at(), y.stride, out, f.rows, f.width);
    }
    std::vector<double> expected;
    std::vector<float> powers;
    for (int64_t r = 0; r < f.rows; r++) {
        double inverse = inverse_rms(&x.host[r * f.width], f.width, 1e-5f);
        double largest = 0;
        for (int64_t c = 0; c < f.width; c++) {
            double v = x.host[r * f.width + c] * inverse * w.host[c];
            v = v * (1 + scale.host[index[r] * f.width + c]) + shift.host[index[r] * f.width + c];
            largest = std::fmax(largest, std::fabs(v));
            expected.push_back(v);
        }
        powers.push_back((float) power_of((float) largest));
    }
    std::string what = std::string(prepared ? "prepared " : "") + name_of(out) + " " + f.text() + " size " + std::to_string(size);
    std::vector<float> got = y.get();
    if (prepared) {
        std::vector<float> s16 = scales.get();
        expect_equal("kinema_rms_norm_modulate_prepare_f16", "scales " + what, s16, powers);
        for (int64_t i = 0; i < f.rows * f.width; i++) {
            got[i] *= s16[i / f.width];
        }
        expect_near("kinema_rms_norm_modulate_prepare_f16", what, got, expected, limit_of(F16));
        return;
    }
    expect_near("kinema_rms_norm_modulate", what, got, expected, limit_of(out));
}

void layer(const Form& f, int in, bool affine, int out) {
    Matrix x(f.rows, f.width, in, f.stride, f.offset);
    Matrix w(1, f.width, F32);
    Matrix b(1, f.width, F16);
    Matrix y(f.rows, f.width, out, f.stride, f.offset);
    x.set(normal(f.rows * f.width, 2, 5));
    w.set(normal(f.width, 0.5f, 1));
    b.set(normal(f.width));
    Shape s = rule_r(f.rows, f.width);
    launch("kinema_layer_norm", s.grid, s.block, 0, x.at(), x.view(), in, affine ? w.at() : (CUdeviceptr) 0, (int) F32, affine ? b.at() : (CUdeviceptr) 0,
           (int) F16, 1e-6f, y.at(), y.view(), out, f.rows, f.width);
    std::vector<double> expected;
    for (int64_t r = 0; r < f.rows; r++) {
        const float* row = &x.host[r * f.width];
        double mean = 0;
        double variance = 0;
        for (int64_t c = 0; c < f.width; c++) {
            mean += row[c] / (double) f.width;
        }
        for (int64_t c = 0; c < f.width; c++) {
            variance += (row[c] - mean) * (row[c] - mean) / f.width;
        }
        for (int64_t c = 0; c < f.width; c++) {
            double v = (row[c] - mean) / std::sqrt(variance + 1e-6f);
            expected.push_back(affine ? v * w.host[c] + b.host[c] : v);
        }
    }
    expect_near("kinema_layer_norm", std::string(name_of(in)) + "->" + name_of(out) + " " + f.text(), y.get(), expected, limit_of(out, 3e-6));
}

void group(int groups, int per_group, int frames, int height, int width, bool silu, int out) {
    int64_t area = (int64_t) height * width;
    int channels = groups * per_group;
    Matrix x(channels * frames, area, F32);
    Matrix w(1, channels, F32);
    Matrix b(1, channels, F32);
    Matrix y(channels * frames, area, out);
    x.set(normal(channels * frames * area, 2, 3));
    w.set(normal(channels, 0.5f, 1));
    b.set(normal(channels));
    int64_t wanted = per_group * area / 8192;
    int chunks = (int) (wanted < 1 ? 1 : wanted > 64 ? 64 : wanted);
    Buffer partial(16 * (size_t) groups * frames * chunks);
    Dim grid{(unsigned) chunks, (unsigned) frames, (unsigned) groups};
    launch("kinema_group_norm_stats", grid, {256, 1, 1}, 0, x.at(), partial.p, per_group, frames, area, chunks);
    launch("kinema_group_norm_apply", grid, {256, 1, 1}, 0, x.at(), partial.p, w.at(), b.at(), 1e-6f, silu ? 1 : 0, y.at(), out, per_group, frames, area, chunks);
    std::vector<double> expected(x.host.size());
    for (int g = 0; g < groups; g++) {
        for (int t = 0; t < frames; t++) {
            double mean = 0;
            double variance = 0;
            double count = (double) per_group * area;
            for (int pass = 0; pass < 3; pass++) {
                for (int c = g * per_group; c < (g + 1) * per_group; c++) {
                    for (int64_t i = 0; i < area; i++) {
                        size_t at = ((size_t) c * frames + t) * area + i;
                        if (pass == 0) {
                            mean += x.host[at] / count;
                        } else if (pass == 1) {
                            variance += (x.host[at] - mean) * (x.host[at] - mean) / count;
                        } else {
                            double v = (x.host[at] - mean) / std::sqrt(variance + 1e-6f) * w.host[c] + b.host[c];
                            expected[at] = silu ? v / (1 + std::exp(-v)) : v;
                        }
                    }
                }
            }
        }
    }
    std::string what = std::to_string(groups) + "*" + std::to_string(per_group) + " channels " + std::to_string(frames) + "x" + std::to_string(height) + "x" +
            std::to_string(width) + (silu ? " silu" : "");
    std::vector<float> got = y.get();
    expect_near("kinema_group_norm_apply", what, got, expected, limit_of(out, 3e-6));
    expect_near("kinema_group_norm_stats", what, got, expected, limit_of(out, 3e-6));
}

void heads(int rows, int count, int width, int rotated, bool normed, int in, int out, int table, int pitch, bool in_place) {
    Matrix x(rows, count * pitch, in, count * pitch + 8);
    Matrix w(1, width, F32);
    Matrix c(rows, rotated ? rotated : 1, table, rotated + 8);
    Matrix s(rows, rotated ? rotated : 1, table, rotated + 8);
    Matrix y(rows, count * width, out);
    x.set(normal(rows * count * pitch, 2));
    w.set(normal(width, 0.5f, 1));
    c.set(normal(rows * (rotated ? rotated : 1)));
    s.set(normal(rows * (rotated ? rotated : 1)));
    std::vector<float> before = x.host;
    int lanes = 1;
    while (lanes * 8 < width) {
        lanes *= 2;
    }
    Dim grid{(unsigned) ceil_div((int64_t) rows * ceil_div(count, 4), 256 / lanes), 1, 1};
    Matrix& to = in_place ? x : y;
    int64_t head = in_place ? pitch : width;
    launch("kinema_head_norm_rotary", grid, {256, 1, 1}, 0, x.at(), x.stride, (int64_t) pitch, in, normed ? 1 : 0, w.at(), (int) F32, 1e-5f,
           rotated ? c.at() : (CUdeviceptr) 0, c.stride, rotated ? s.at() : (CUdeviceptr) 0, s.stride, table, rotated, to.at(), to.stride, head, to.type,
           (int64_t) rows, count, width);
    std::vector<double> expected;
    std::vector<float> all = to.get();
    std::vector<float> got;
    for (int r = 0; r < rows; r++) {
        for (int h = 0; h < count; h++) {
            const float* row = &before[(size_t) r * count * pitch + h * pitch];
            double inverse = normed ? inverse_rms(row, width, 1e-5f) : 1;
            std::vector<double> v(width);
            for (int i = 0; i < width; i++) {
                v[i] = row[i] * inverse * (normed ? w.host[i] : 1);
            }
            for (int i = 0; i < width; i++) {
                double turned = v[i];
                if (i < rotated) {
                    double partner = i < rotated / 2 ? -v[i + rotated / 2] : v[i - rotated / 2];
                    turned = v[i] * c.host[r * rotated + i] + partner * s.host[r * rotated + i];
                }
                expected.push_back(turned);
                got.push_back(all[(size_t) r * to.width + h * head + i]);
            }
        }
    }
    expect_near("kinema_head_norm_rotary", std::to_string(rows) + "x" + std::to_string(count) + "x" + std::to_string(width) + " rotated " + std::to_string(rotated) + " " +
                name_of(in) + "->" + name_of(to.type), got, expected, limit_of(to.type));
}

}  // namespace

void norm_tests() {
    int types[] = {F32, F16, BF16};
    for (const Form& f : forms()) {
        for (int in : types) {
            for (int out : types) {
                rms(f, in, in, out, false);
                layer(f, in, out != F32, out);
            }
            rms(f, in, -1, in, true);
            modulate(f, in, false, 1);
        }
        modulate(f, F16, true, 1);
        modulate(f, F16, true, 3000);
    }
    for (int64_t width : {8, 64, 256, 264, 1000, 2048}) {
        for (int out : types) {
            narrow(19, width, width, BF16, out, false, 1);
            narrow(8, width, width + 8, -1, out, false, 1);
        }
        narrow(33, width, width, F32, F16, true, 1);
        narrow(33, width, width + 8, F32, F16, true, 3000);
    }
    group(2, 1, 1, 3, 3, false, F32);
    group(4, 3, 2, 5, 7, true, F32);
    group(3, 2, 2, 16, 24, true, BF16);
    group(32, 4, 2, small_shapes ? 20 : 92, small_shapes ? 20 : 160, true, F32);
    for (int type : types) {
        heads(5, 4, 64, 48, true, type, F32, F32, 64, false);
        heads(7, 3, 64, 16, true, type, type, F16, 64, true);
        heads(9, 56, 128, 96, true, type, BF16, F32, 128, false);
        heads(3, 8, 128, 128, true, type, F16, F16, 136, true);
        heads(4, 5, 72, 36, false, type, F32, F32, 72, false);
        heads(2, 3, 10, 6, true, type, F32, F32, 11, false);
        heads(3, 2, 256, 0, true, type, type, F32, 256, true);
    }
    heads(small_shapes ? 10 : 1000, 56, 128, 96, true, BF16, BF16, F32, 128, true);
}
