#include "harness.hpp"

namespace {

struct Strided {
    int64_t size[6] = {1, 1, 1, 1, 1, 1}, a[6] = {}, b[6] = {};
    int32_t rank = 0, unused = 0;
};

struct Fade {
    int64_t size[6] = {1, 1, 1, 1, 1, 1}, a[6] = {}, b[6] = {}, out[6] = {};
    int32_t rank = 0, axis = 0;
};

/** Permutes [2, 3, 4, 5, 6, 7] (or fewer axes) from one type to another. */
void copy(int in, int out, const std::vector<int>& dims, const std::vector<int>& order) {
    int rank = (int) dims.size();
    int64_t n = 1;
    for (int d : dims) {
        n *= d;
    }
    std::vector<int64_t> strides(rank);
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= dims[i];
    }
    Strided s;
    s.rank = rank;
    step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        int axis = 6 - rank + i;
        s.size[axis] = dims[order[i]];
        s.a[axis] = strides[order[i]];
        s.b[axis] = step;
        step *= dims[order[i]];
    }
    Matrix x(1, n, in);
    Matrix y(1, n, out);
    x.set(normal(n, 100));
    Shape l = rule_l(n);
    launch("kinema_copy", l.grid, l.block, 0, x.at(), in, y.at(), out, s, n);
    std::vector<float> expected;
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        int64_t from = 0;
        for (int axis = 5; axis >= 0; axis--) {
            from += rest % s.size[axis] * s.a[axis];
            rest /= s.size[axis];
        }
        expected.push_back(rounded(x.host[from], out));
    }
    expect_equal("kinema_copy", std::string(name_of(in)) + "->" + name_of(out) + " rank " + std::to_string(rank), y.get(), expected);
}

/** Doubles beside a tie of the narrow type, which two roundings would get wrong. */
void copy_rounds_once() {
    for (int type : {F16, BF16}) {
        double ulp = std::ldexp(1.0, type == F16 ? -10 : -7);
        double tie = 1.0 + ulp / 2;
        std::vector<double> values = {tie + std::ldexp(1.0, -40), -tie - std::ldexp(1.0, -40), tie, tie - std::ldexp(1.0, -40), 70000.0, 1e300, -0.0};
        std::vector<float> expected = {(float) (1 + ulp), (float) (-1 - ulp), 1.0f, 1.0f, rounded(70000.0f, type), INFINITY, -0.0f};
        Buffer x(values);
        Matrix y(1, (int64_t) values.size(), type);
        Strided s;
        s.rank = 1;
        s.size[5] = (int64_t) values.size();
        s.a[5] = s.b[5] = 1;
        launch("kinema_copy", {1, 1, 1}, {256, 1, 1}, 0, x.p, (int) F64, y.at(), type, s, (int64_t) values.size());
        expect_equal("kinema_copy", std::string("f64 ties to ") + name_of(type), y.get(), expected);
    }
}

void raw(int bits) {
    int64_t rows = 9, width = 13;
    std::vector<unsigned char> image(rows * width * bits / 8);
    for (unsigned char& b : image) {
        b = (unsigned char) random_engine();
    }
    Buffer x(image);
    Buffer y(image.size());
    Strided s;
    s.rank = 2;
    s.size[4] = width;
    s.size[5] = rows;
    s.a[4] = 1;
    s.a[5] = width;
    s.b[4] = rows;
    s.b[5] = 1;
    launch("kinema_copy", {1, 1, 1}, {256, 1, 1}, 0, x.p, bits, y.p, bits, s, rows * width);
    std::vector<unsigned char> got = y.get<unsigned char>();
    bool same = true;
    int b = bits / 8;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < width; c++) {
            same = same && std::memcmp(&got[(c * rows + r) * b], &image[(r * width + c) * b], b) == 0;
        }
    }
    expect_true("kinema_copy", "raw " + std::to_string(bits) + " bits", same, "other bytes");
}

void transpose(int in, int out, int64_t batch, int64_t rows, int64_t columns) {
    Matrix x(batch * rows, columns, in, columns + 3);
    Matrix y(batch * columns, rows, out, rows + 5);
    x.set(normal(batch * rows * columns));
    launch("kinema_transpose", {(unsigned) ceil_div(columns, 32), (unsigned) ceil_div(rows, 32), (unsigned) batch}, {32, 8, 1}, 0, x.at(), in, rows * x.stride,
           x.stride, y.at(), out, columns * y.stride, y.stride, rows, columns);
    std::vector<float> expected(batch * rows * columns);
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t c = 0; c < columns; c++) {
                expected[(b * columns + c) * rows + r] = rounded(x.host[(b * rows + r) * columns + c], out);
            }
        }
    }
    expect_equal("kinema_transpose", std::to_string(rows) + "x" + std::to_string(columns), y.get(), expected);
}

void fill(int type) {
    Matrix y(7, 9, type, 12, 1);
    Strided s;
    s.rank = 2;
    s.size[4] = 7;
    s.size[5] = 9;
    s.a[4] = 12;
    s.a[5] = 1;
    launch("kinema_fill", {1, 1, 1}, {256, 1, 1}, 0, y.at(), type, s, 0.1f, (int64_t) 63);
    expect_equal("kinema_fill", name_of(type), y.get(), std::vector<float>(63, rounded(0.1f, type)));
}

void rows_by_index(int in, int out, int64_t rows, int64_t width) {
    Matrix x(rows, width, in, width + 8);
    Matrix y(rows, width, out, width + 8);
    x.set(normal(rows * width));
    std::vector<int32_t> index(rows);
    for (int64_t i = 0; i < rows; i++) {
        index[i] = (int32_t) ((i * 7 + 3) % rows);
    }
    Buffer indices(index);
    Shape s = rule_e(rows, width);
    std::vector<float> gathered(rows * width);
    std::vector<float> scattered(rows * width);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < width; c++) {
            gathered[r * width + c] = rounded(x.host[index[r] * width + c], out);
            scattered[index[r] * width + c] = rounded(x.host[r * width + c], out);
        }
    }
    launch("kinema_gather_rows", s.grid, s.block, 0, x.at(), x.stride, in, indices.p, y.at(), y.stride, out, rows, width);
    expect_equal("kinema_gather_rows", std::to_string(rows) + "x" + std::to_string(width), y.get(), gathered);
    y.poison();
    launch("kinema_scatter_rows", s.grid, s.block, 0, x.at(), x.stride, in, indices.p, y.at(), y.stride, out, rows, width);
    expect_equal("kinema_scatter_rows", std::to_string(rows) + "x" + std::to_string(width), y.get(), scattered);
}

void cross_fade(const std::vector<int>& dims, int axis) {
    int rank = (int) dims.size();
    Fade f;
    f.rank = rank;
    f.axis = 6 - rank + axis;
    int64_t step = 1;
    int64_t inner = 1;
    for (int i = rank - 1; i >= 0; i--) {
        int at = 6 - rank + i;
        f.size[at] = dims[i];
        f.a[at] = f.b[at] = f.out[at] = step;
        step *= dims[i];
        inner *= i > axis ? dims[i] : 1;
    }
    Matrix a(1, step, F32);
    Matrix b(1, step, F32);
    a.set(normal(step));
    b.set(normal(step));
    Shape l = rule_l(step);
    launch("kinema_cross_fade", l.grid, l.block, 0, a.at(), b.at(), a.at(), f, step);
    std::vector<float> expected;
    for (int64_t i = 0; i < step; i++) {
        float ramp = (float) (i / inner % dims[axis]) / (float) dims[axis];
        float fading = a.host[i] * (1 - ramp);
        float rising = b.host[i] * ramp;
        expected.push_back(fading + rising);
    }
    expect_equal("kinema_cross_fade", "axis " + std::to_string(axis) + " of " + std::to_string(rank), a.get(), expected);
}

/** The published test vector of Philox4x32-10 with counter and key 0 lies in elements 0 to 3 of (seed 0, stream 0). */
void seeded() {
    int64_t n = small_shapes ? 20011 : 1000003;
    for (int type : {F32, F16, BF16}) {
        Matrix y(1, n, type);
        Shape l = rule_l(ceil_div(n, 8));
        launch("kinema_random", l.grid, l.block, 0, y.at(), type, n, (int64_t) 42, (int64_t) 7, 0.5f, 2.0f, 0);
        std::vector<float> first = y.get();
        double mean = 0;
        double square = 0;
        for (float v : first) {
            mean += v / n;
            square += (double) v * v / n;
        }
        double deviation = std::sqrt(square - mean * mean);
        expect_true("kinema_random", std::string("moments ") + name_of(type), std::fabs(mean - 0.5) < 0.06 && std::fabs(deviation - 2) < 0.06,
                    std::to_string(mean) + " " + std::to_string(deviation));
        y.poison();
        launch("kinema_random", l.grid, l.block, 0, y.at(), type, n, (int64_t) 42, (int64_t) 7, 0.5f, 2.0f, 0);
        expect_equal("kinema_random", std::string("repeats ") + name_of(type), y.get(), first);
    }
    Matrix u(1, 8, F32);
    launch("kinema_random", {1, 1, 1}, {256, 1, 1}, 0, u.at(), (int) F32, (int64_t) 8, (int64_t) 0, (int64_t) 0, 0.0f, 1.0f, 1);
    uint32_t published[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    std::vector<float> got = u.get();
    got.resize(4);
    std::vector<double> expected;
    for (uint32_t w : published) {
        expected.push_back(2 * ((double) (w >> 9) + 0.5) / 8388608.0 - 1);
    }
    expect_near("kinema_random", "Philox test vector", got, expected, 1e-6);
    Buffer bytes((size_t) n);
    Shape l = rule_l(ceil_div(n, 8));
    launch("kinema_random", l.grid, l.block, 0, bytes.p, 8, n, (int64_t) 1, (int64_t) 2, 0.0f, 0.0f, 2);
    std::vector<signed char> q = bytes.get<signed char>();
    bool seen[256] = {};
    for (signed char c : q) {
        seen[c + 128] = true;
    }
    int distinct = 0;
    for (bool s : seen) {
        distinct += s ? 1 : 0;
    }
    expect_true("kinema_random", "int8 range", distinct == 255 && !seen[0], std::to_string(distinct) + " values");
}

void checks(int type, int64_t rows, int64_t width) {
    Matrix x(rows, width, type, width + 1);
    std::vector<float> values = normal(rows * width);
    size_t bad = values.size() > 20 ? 3 : 0;
    if (bad) {
        values[1] = NAN;
        values[values.size() / 2] = INFINITY;
        values[values.size() - 1] = -INFINITY;
    }
    x.set(values);
    Buffer count(std::vector<uint64_t>{0});
    Shape s = rule_e(rows, width);
    launch("kinema_count_not_finite", s.grid, s.block, 0, x.at(), x.view(), type, rows, width, count.p);
    expect_true("kinema_count_not_finite", name_of(type), count.get<uint64_t>()[0] == bad, std::to_string(count.get<uint64_t>()[0]));
    for (float& v : values) {
        v = std::isfinite(v) ? v : 1;
    }
    x.set(values);
    Buffer partial(1024 * 8);
    Buffer out(8);
    launch("kinema_sum", {1024, 1, 1}, {256, 1, 1}, 0, x.at(), x.view(), type, rows, width, partial.p);
    launch("kinema_sum_finish", {1, 1, 1}, {256, 1, 1}, 0, partial.p, out.p);
    double sum = 0;
    for (float v : x.host) {
        sum += v;
    }
    double got = out.get<double>()[0];
    expect_true("kinema_sum", name_of(type), std::fabs(got - sum) < 1e-9 * values.size(), std::to_string(got));
    expect_true("kinema_sum_finish", name_of(type), std::fabs(got - sum) < 1e-9 * values.size(), std::to_string(got));
}

}  // namespace

void move_tests() {
    for (int in : {F32, F16, BF16, F64}) {
        for (int out : {F32, F16, BF16, F64}) {
            copy(in, out, {4, 5}, {1, 0});
            copy(in, out, {3, 4, 5, 6, 7, 8}, {5, 0, 3, 1, 4, 2});
            copy(in, out, {1003}, {0});
        }
    }
    copy_rounds_once();
    for (int bits : {8, 16, 32, 64, 128}) {
        raw(bits);
    }
    transpose(F32, F32, 1, 5, 3);
    transpose(F32, BF16, 2, 100, 70);
    transpose(F16, F32, 3, 64, 33);
    for (int type : {F32, F16, BF16, F64}) {
        fill(type);
    }
    rows_by_index(F32, F32, 10, 33);
    rows_by_index(F32, BF16, 101, 192);
    rows_by_index(F16, F32, 19, 5376);
    cross_fade({3, 4, 5, 6}, 1);
    cross_fade({3, 4, 5, 6}, 3);
    cross_fade({7, 300}, 0);
    seeded();
    checks(F32, 1, 1);
    checks(F32, 33, 1001);
    checks(F16, 10, 24);
    checks(BF16, 7, 500);
}
