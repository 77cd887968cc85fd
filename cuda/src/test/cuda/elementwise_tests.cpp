#include "harness.hpp"

namespace {

struct Form {
    int64_t rows, width, stride, offset;
    std::string text() const { return std::to_string(rows) + "x" + std::to_string(width) + " stride " + std::to_string(stride) + " offset " + std::to_string(offset); }
};

std::vector<Form> forms() {
    std::vector<Form> all = {{1, 1, 1, 0}, {1, 7, 7, 3}, {5, 8, 8, 0}, {3, 33, 40, 1}, {70, 192, 192, 0}, {9, 500, 512, 8}, {2, 5376, 5376, 0}};
    if (!small_shapes) {
        all.push_back({1, 1000003, 1000003, 0});
        all.push_back({3000, 24, 32, 0});
        all.push_back({300, 2500, 2501, 5});
    }
    return all;
}

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

std::vector<float> input(const Form& f) {
    std::vector<float> v = normal(f.rows * f.width, 3);
    if (v.size() > 40) {
        v[3] = 0;
        v[5] = -60;
        v[7] = 90;
        v[11] = -1e-6f;
    }
    return v;
}

void unary(int op, const char* name, const Form& f, int in, int out, double a, double b, const std::function<double(double)>& g, bool exact) {
    Matrix x(f.rows, f.width, in, f.stride, f.offset);
    Matrix y(f.rows, f.width, out, f.stride, f.offset);
    x.set(input(f));
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_unary", s.grid, s.block, 0, op, x.at(), x.view(), in, y.at(), y.view(), out, f.rows, f.width, (float) a, (float) b);
    std::string what = std::string(name) + " " + name_of(in) + "->" + name_of(out) + " " + f.text();
    if (exact) {
        std::vector<float> expected;
        for (float v : x.host) {
            expected.push_back(rounded((float) g(v), out));
        }
        expect_equal("kinema_unary", what, y.get(), expected);
        return;
    }
    std::vector<double> expected;
    for (float v : x.host) {
        expected.push_back(g(v));
    }
    expect_near("kinema_unary", what, y.get(), expected, limit_of(out));
}

void binary(int op, const char* name, const Form& f, int ta, int tb, int out, bool in_place, const std::function<double(double, double)>& g) {
    Matrix a(f.rows, f.width, ta, f.stride, f.offset);
    Matrix b(f.rows, f.width, tb, f.stride, f.offset);
    Matrix y(f.rows, f.width, out, f.stride, f.offset);
    a.set(input(f));
    b.set(input(f));
    Matrix& to = in_place ? a : y;
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_binary", s.grid, s.block, 0, op, a.at(), a.view(), ta, b.at(), b.view(), tb, to.at(), to.view(), to.type, f.rows, f.width);
    std::vector<double> expected;
    for (size_t i = 0; i < a.host.size(); i++) {
        expected.push_back(g(a.host[i], b.host[i]));
    }
    expect_near("kinema_binary", std::string(name) + " " + name_of(ta) + "," + name_of(tb) + "->" + name_of(to.type) + " " + f.text(), to.get(), expected,
                limit_of(to.type));
}

void add_scaled(const Form& f) {
    Matrix x(f.rows, f.width, F32, f.stride, f.offset);
    Matrix y(f.rows, f.width, F32, f.stride + 3, f.offset);
    x.set(input(f));
    y.set(input(f));
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_add_scaled", s.grid, s.block, 0, x.at(), x.view(), 0.37f, y.at(), y.view(), f.rows, f.width);
    std::vector<float> expected;
    for (size_t i = 0; i < x.host.size(); i++) {
        expected.push_back(std::fmaf(0.37f, x.host[i], y.host[i]));
    }
    expect_equal("kinema_add_scaled", f.text(), y.get(), expected);
}

void gated(const Form& f, int type, int tables, bool indexed) {
    Matrix residual(f.rows, f.width, F32, f.stride, f.offset);
    Matrix x(f.rows, f.width, type, f.stride, f.offset);
    Matrix table(tables, f.width, F32, f.width + 4);
    residual.set(input(f));
    x.set(input(f));
    table.set(normal(tables * f.width));
    std::vector<int32_t> index(f.rows);
    for (int32_t& i : index) {
        i = indexed ? random_engine() % tables : 0;
    }
    Buffer indices(index);
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_gated_residual_add", s.grid, s.block, 0, residual.at(), residual.view(), x.at(), x.view(), type, tables ? table.at() : (CUdeviceptr) 0,
           table.stride, indexed ? indices.p : (CUdeviceptr) 0, f.rows, f.width);
    std::vector<float> expected;
    for (int64_t r = 0; r < f.rows; r++) {
        for (int64_t c = 0; c < f.width; c++) {
            float product = table.host[index[r] * f.width + c] * x.host[r * f.width + c];
            expected.push_back(residual.host[r * f.width + c] + product);
        }
    }
    expect_equal("kinema_gated_residual_add", std::string(name_of(type)) + (indexed ? " indexed " : " one row ") + f.text(), residual.get(), expected);
}

void ungated(const Form& f) {
    Matrix residual(f.rows, f.width, F32, f.stride, f.offset);
    Matrix x(f.rows, f.width, BF16, f.stride, f.offset);
    residual.set(input(f));
    x.set(input(f));
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_gated_residual_add", s.grid, s.block, 0, residual.at(), residual.view(), x.at(), x.view(), (int) BF16, (CUdeviceptr) 0, (int64_t) 0,
           (CUdeviceptr) 0, f.rows, f.width);
    std::vector<float> expected;
    for (size_t i = 0; i < x.host.size(); i++) {
        expected.push_back(residual.host[i] + x.host[i]);
    }
    expect_equal("kinema_gated_residual_add", "no gate " + f.text(), residual.get(), expected);
}

void affine(const Form& f, int64_t per_channel) {
    int64_t channels = ceil_div(f.rows, per_channel);
    Matrix x(f.rows, f.width, F32, f.stride, f.offset);
    Matrix scale(1, channels, F32);
    Matrix shift(1, channels, BF16);
    x.set(input(f));
    scale.set(normal(channels));
    shift.set(normal(channels));
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_channel_affine", s.grid, s.block, 0, x.at(), x.view(), (int) F32, scale.at(), (int) F32, shift.at(), (int) BF16, x.at(), x.view(), (int) F32,
           f.rows, f.width, per_channel);
    std::vector<float> expected;
    for (int64_t i = 0; i < f.rows * f.width; i++) {
        int64_t channel = i / f.width / per_channel;
        float product = x.host[i] * scale.host[channel];
        expected.push_back(product + shift.host[channel]);
    }
    expect_equal("kinema_channel_affine", f.text(), x.get(), expected);
}

void snake(const Form& f, int64_t channels) {
    Matrix x(f.rows, f.width, F32, f.stride, f.offset);
    Matrix alpha(1, channels, F32);
    Matrix inverse(1, channels, F32);
    x.set(normal(f.rows * f.width, 3));
    alpha.set(normal(channels, 2));
    inverse.set(normal(channels));
    Shape s = rule_e(f.rows, f.width);
    launch("kinema_snake", s.grid, s.block, 0, x.at(), x.view(), alpha.at(), inverse.at(), x.at(), x.view(), f.rows, f.width, channels);
    std::vector<double> expected;
    for (int64_t i = 0; i < f.rows * f.width; i++) {
        int64_t channel = i / f.width % channels;
        double sine = std::sin((double) (alpha.host[channel] * x.host[i]));
        expected.push_back(x.host[i] + inverse.host[channel] * sine * sine);
    }
    expect_near("kinema_snake", f.text(), x.get(), expected, 1e-6);
}

/** A view of three axes whose rows lie at two strides. */
void rows_of_two_strides() {
    int a = 5, b = 7, width = 24, pitch = 32;
    Matrix x(a * b, width, F16, pitch);
    x.set(normal(a * b * width));
    // Read as [b, a]: outer stride pitch, inner stride b * pitch.
    Rows permuted{pitch, (int64_t) b * pitch, a, 0};
    Matrix y(a * b, width, F32);
    Shape s = rule_e(a * b, width);
    launch("kinema_unary", s.grid, s.block, 0, 5, x.at(), permuted, (int) F16, y.at(), y.view(), (int) F32, (int64_t) a * b, (int64_t) width, 0.0f, 0.0f);
    std::vector<float> expected;
    for (int j = 0; j < b; j++) {
        for (int i = 0; i < a; i++) {
            for (int c = 0; c < width; c++) {
                expected.push_back(x.host[(i * b + j) * width + c]);
            }
        }
    }
    expect_equal("kinema_unary", "permuted rows", y.get(), expected);
}

/** Pictures of one to four channels, some values not finite, ties at half a level. */
void levels(int channels, int frames, int64_t plane) {
    Matrix x(channels * frames, plane, F32, plane + 5);
    std::vector<float> values = normal(channels * frames * plane);
    for (size_t i = 0; i < values.size(); i += 7) {
        values[i] = ((int) (random_engine() % 256) + 0.5f) / 255;
    }
    values[0] = NAN;
    values[values.size() - 1] = INFINITY;
    x.set(values);
    struct {
        float factor[4], offset[4];
    } c = {{0.25f, 1.0f, -0.5f, 2.0f}, {0.5f, 0.0f, 0.25f, -1.0f}};
    Buffer out((size_t) channels * frames * plane);
    Buffer counts((size_t) frames * 4);
    driver->fill(counts.p, 0, counts.bytes);
    launch("kinema_levels", {(unsigned) ceil_div(plane, 256), (unsigned) frames, 1}, {256, 1, 1}, 0, x.at(), frames * x.stride, x.stride, out.p, counts.p, plane,
           channels, c);
    std::vector<uint8_t> got = out.get<uint8_t>();
    std::vector<uint32_t> odd = counts.get<uint32_t>();
    bool same = true;
    for (int t = 0; t < frames; t++) {
        uint32_t expectedOdd = 0;
        for (int64_t i = 0; i < plane; i++) {
            for (int k = 0; k < channels; k++) {
                float v = x.host[(k * frames + t) * plane + i];
                expectedOdd += std::isfinite(v) ? 0 : 1;
                volatile float scaled = v * c.factor[k];
                float unit = scaled + c.offset[k];
                unit = unit > 0 ? unit < 1 ? unit : 1 : 0;
                same = same && got[(t * plane + i) * channels + k] == (uint8_t) std::nearbyintf(unit * 255.0f);
            }
        }
        same = same && odd[t] == expectedOdd;
    }
    expect_true("kinema_levels", std::to_string(channels) + " channels, " + std::to_string(frames) + " frames of " + std::to_string(plane), same, "other levels");
}

}  // namespace

void elementwise_tests() {
    int types[] = {F32, F16, BF16};
    for (const Form& f : forms()) {
        for (int in : types) {
            for (int out : types) {
                unary(0, "silu", f, in, out, 0, 0, silu, false);
                unary(5, "convert", f, in, out, 0, 0, [](double x) { return x; }, true);
            }
            unary(1, "gelu tanh", f, in, in, 0, 0, gelu_tanh, false);
            unary(2, "gelu erf", f, in, in, 0, 0, gelu_erf, false);
            unary(3, "scale", f, in, in, 0.3f, 0, [](double x) { return (double) ((float) x * 0.3f); }, true);
            unary(4, "clamp", f, in, in, -1, 2.5, [](double x) { return x < -1 ? -1 : x > 2.5 ? 2.5 : x; }, true);
            unary(6, "add constant", f, in, in, 1.5, 0, [](double x) { return (double) ((float) x + 1.5f); }, true);
            for (int out : types) {
                binary(0, "add", f, in, F32, out, false, [](double a, double b) { return a + b; });
                binary(1, "swiglu", f, in, in, out, false, [](double a, double b) { return silu(a) * b; });
                binary(2, "geglu", f, in, in, out, false, [](double a, double b) { return gelu_tanh(a) * b; });
            }
            binary(1, "swiglu in place", f, in, in, in, true, [](double a, double b) { return silu(a) * b; });
            gated(f, in, 3, true);
            gated(f, in, 1, false);
        }
        add_scaled(f);
        ungated(f);
        affine(f, 1);
        affine(f, 2);
        snake(f, f.rows > 2 ? f.rows / 2 : 1);
    }
    rows_of_two_strides();
    levels(3, 2, 1000);
    levels(1, 1, 3);
    levels(4, 3, 257);
}
