#include "harness.hpp"

namespace {

float power_of(float largest) {
    if (!std::isfinite(largest) || largest == 0) {
        return 1;
    }
    int e;
    std::frexp(largest, &e);
    return std::ldexp(1.0f, e > 11 ? e - 11 : 0);
}

/** Rows whose largest magnitudes are the interesting ones. */
std::vector<float> rows_of_sizes(int64_t rows, int64_t width) {
    const float sizes[] = {0.0f, 1.0f, 2047.9f, 2048.0f, 2049.0f, 65504.0f, 1e6f, 3e38f, 1e-30f};
    std::vector<float> v(rows * width);
    for (int64_t r = 0; r < rows; r++) {
        float size = sizes[r % 9];
        for (int64_t c = 0; c < width; c++) {
            v[r * width + c] = c == (r * 5) % width ? -size : size * ((int) (random_engine() % 2001) - 1000) / 1001.0f;
        }
    }
    return v;
}

void prepare(int64_t rows, int64_t width, int64_t stride) {
    Matrix x(rows, width, F32, stride);
    Matrix y(rows, width, F16, stride);
    Matrix scales(1, rows, F32);
    std::vector<float> values = rows_of_sizes(rows, width);
    if (rows > 12 && width > 3) {
        values[10 * width + 2] = NAN;
        values[11 * width + 1] = INFINITY;
    }
    x.set(values);
    Shape s = rule_r(rows, width);
    launch("kinema_prepare_f16", s.grid, s.block, 0, x.at(), x.stride, y.at(), y.stride, scales.at(), rows, width);
    std::vector<float> powers;
    std::vector<float> expected;
    for (int64_t r = 0; r < rows; r++) {
        float largest = 0;
        for (int64_t c = 0; c < width; c++) {
            float v = std::fabs(x.host[r * width + c]);
            largest = v > largest || v != v ? v : largest;
        }
        powers.push_back(power_of(largest));
        for (int64_t c = 0; c < width; c++) {
            expected.push_back(rounded(x.host[r * width + c] / powers[r], F16));
        }
    }
    std::string what = std::to_string(rows) + "x" + std::to_string(width);
    expect_equal("kinema_prepare_f16", what, y.get(), expected);
    expect_equal("kinema_prepare_f16", "scales " + what, scales.get(), powers);
}

/** Scales from largest magnitudes that are known, and the runs of 256 rows that have one above 1: here every third run, the first not. */
void row_scales(int64_t rows) {
    const float unscaled[] = {0.0f, 1e-30f, 1.0f, 2047.9f, INFINITY, NAN};
    const float scaled[] = {2048.0f, 65504.0f, 1e6f, 3e38f};
    std::vector<float> largest;
    std::vector<float> powers;
    std::vector<int32_t> runs(ceil_div(rows, 256), 0);
    for (int64_t r = 0; r < rows; r++) {
        bool large = r / 256 % 3 == 1 && r % 5 == 4;
        largest.push_back(large ? scaled[r % 4] : unscaled[r % 6]);
        powers.push_back(power_of(largest.back()));
        runs[r / 256] |= powers.back() > 1 ? 1 : 0;
    }
    Buffer in(largest);
    Matrix scales(1, rows, F32);
    Buffer flags(std::vector<int32_t>(runs.size(), -1));
    launch("kinema_row_scales", {(unsigned) runs.size(), 1, 1}, {256, 1, 1}, 0, in.p, scales.at(), flags.p, rows);
    expect_equal("kinema_row_scales", std::to_string(rows) + " rows", scales.get(), powers);
    expect_true("kinema_row_scales", "runs of " + std::to_string(rows) + " rows", flags.get<int32_t>() == runs, "other flags");
}

void swiglu_prepare(int64_t rows, int64_t width, int type, float size) {
    Matrix both(rows, 2 * width, type);
    both.set(normal(rows * 2 * width, size));
    Matrix y(rows, width, F16);
    Matrix scales(1, rows, F32);
    Shape s = rule_r(rows, width);
    launch("kinema_swiglu_prepare_f16", s.grid, s.block, 0, both.at(), both.stride, both.at() + width * bytes_of(type), both.stride, type, y.at(), y.stride,
           scales.at(), rows, width);
    std::vector<double> expected;
    std::vector<float> powers;
    for (int64_t r = 0; r < rows; r++) {
        double largest = 0;
        for (int64_t c = 0; c < width; c++) {
            double g = both.host[r * 2 * width + c];
            double v = g / (1 + std::exp(-g)) * both.host[r * 2 * width + width + c];
            largest = std::fmax(largest, std::fabs(v));
            expected.push_back(v);
        }
        powers.push_back(power_of((float) largest));
    }
    std::string what = std::string(name_of(type)) + " " + std::to_string(rows) + "x" + std::to_string(width);
    std::vector<float> got = y.get();
    std::vector<float> s16 = scales.get();
    expect_equal("kinema_swiglu_prepare_f16", "scales " + what, s16, powers);
    for (size_t i = 0; i < got.size(); i++) {
        got[i] *= s16[i / width];
    }
    expect_near("kinema_swiglu_prepare_f16", what, got, expected, limit_of(F16));
}

/** Entry (r, c) of the regular Hadamard matrix: negative where base-4 digits add up to 3 an odd number of times. */
double hadamard(int r, int c, int group) {
    int negative = 0;
    for (int digit = 1; digit < group; digit *= 4) {
        negative += r / digit % 4 + c / digit % 4 == 3 ? 1 : 0;
    }
    return (negative % 2 ? -1 : 1) / std::sqrt((double) group);
}

void rotate(int64_t rows, int64_t width, int group, int in, int out) {
    Matrix x(rows, width, in, width + 16);
    Matrix y(rows, width, out, width + 24);
    x.set(normal(rows * width));
    Shape l = rule_l(rows * ceil_div(width, 16));
    launch("kinema_rotate", l.grid, l.block, 0, x.at(), x.stride, in, y.at(), y.stride, out, rows, width, group);
    std::vector<double> expected;
    for (int64_t i = 0; i < rows * width; i++) {
        int64_t first = i - i % width % group;
        double sum = 0;
        for (int j = 0; j < group; j++) {
            sum += x.host[first + j] * hadamard(j, (int) (i - first), group);
        }
        expected.push_back(sum);
    }
    expect_near("kinema_rotate", std::to_string(group) + " " + name_of(in) + "->" + name_of(out) + " " + std::to_string(rows) + "x" + std::to_string(width), y.get(),
                expected, limit_of(out));
}

void decode(int64_t lines, int64_t width, int out, bool columns) {
    int64_t pitch = width + (width % 8 == 0 ? 8 : 0);
    std::vector<signed char> q(lines * pitch);
    for (signed char& c : q) {
        c = (signed char) ((int) (random_engine() % 255) - 127);
    }
    Buffer codes(q);
    int64_t n = columns ? width : lines;
    Matrix scale(1, n, F32);
    scale.set(normal(n, 0.01f, 0.05f));
    Matrix y(lines, width, out);
    Shape s = rule_e(lines, width);
    std::string kernel = columns ? "kinema_decode_columns" : "kinema_decode_rows";
    launch(kernel, s.grid, s.block, 0, codes.p, pitch, scale.at(), y.at(), y.stride, out, lines, width);
    std::vector<float> expected;
    for (int64_t l = 0; l < lines; l++) {
        for (int64_t i = 0; i < width; i++) {
            expected.push_back(rounded((float) q[l * pitch + i] * scale.host[columns ? i : l], out));
        }
    }
    expect_equal(kernel, std::string(name_of(out)) + " " + std::to_string(lines) + "x" + std::to_string(width), y.get(), expected);
}

void epilogue(int64_t rows, int64_t width, int out, int parts) {
    Matrix product(rows, width, F32, width + 4);
    Matrix delta(rows, width, F32, width + 5);
    Matrix bias(1, width, BF16);
    Matrix scale(1, rows, F32);
    Matrix y(rows, width, out, width + 8);
    product.set(normal(rows * width));
    delta.set(normal(rows * width));
    bias.set(normal(width));
    std::vector<float> powers(rows);
    for (float& p : powers) {
        p = std::ldexp(1.0f, random_engine() % 5);
    }
    scale.set(powers);
    Shape s = rule_e(rows, width);
    launch("kinema_epilogue", s.grid, s.block, 0, product.at(), product.stride, parts & 1 ? scale.at() : (CUdeviceptr) 0, parts & 2 ? bias.at() : (CUdeviceptr) 0,
           (int) BF16, parts & 4 ? delta.at() : (CUdeviceptr) 0, delta.stride, 0.7f, y.at(), y.stride, out, rows, width);
    std::vector<float> expected;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < width; c++) {
            float v = product.host[r * width + c];
            v = parts & 1 ? v * powers[r] : v;
            v = parts & 2 ? v + bias.host[c] : v;
            v = parts & 4 ? std::fmaf(0.7f, delta.host[r * width + c], v) : v;
            expected.push_back(rounded(v, out));
        }
    }
    expect_equal("kinema_epilogue", std::string(name_of(out)) + " parts " + std::to_string(parts) + " " + std::to_string(rows) + "x" + std::to_string(width), y.get(),
                 expected);
}

}  // namespace

void linear_tests() {
    prepare(1, 1, 1);
    prepare(13, 7, 9);
    prepare(18, 192, 192);
    prepare(18, 5376, 5376);
    prepare(13, 14336, 14336);
    for (int64_t rows : {1, 256, 500, 1100}) {
        row_scales(rows);
    }
    for (int type : {F32, F16, BF16}) {
        swiglu_prepare(3, 9, type, 1);
        swiglu_prepare(5, 512, type, 30);
        swiglu_prepare(3, 14336, type, 60);
        swiglu_prepare(2, 20000, type, 1);
        for (int group : {4, 16, 64, 256}) {
            rotate(3, group, group, type, type);
            rotate(7, 5 * group, group, type, type);
            rotate(2, 21 * 256, group, type, F32);
        }
        for (bool columns : {false, true}) {
            decode(1, 1, type, columns);
            decode(9, 33, type, columns);
            decode(64, 5376, type, columns);
        }
        for (int parts = 0; parts < 8; parts++) {
            epilogue(3, 10, type, parts);
            epilogue(11, 1024, type, parts);
        }
    }
    if (!small_shapes) {
        rotate(500, 5376, 256, BF16, BF16);
    }
}
