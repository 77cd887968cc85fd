// Products of SM90 with what follows them, against plain loops in FP64; and their speed at the video decoder's sizes.
#include "harness.hpp"

#include "../../main/cuda/product_form.cuh"

#include <algorithm>
#include <chrono>

namespace {

struct Product {
    CUdeviceptr rowScale = 0, bias = 0, out = 0;
    int64_t outStride = 0;
    CUdeviceptr gate = 0, cosine = 0, sine = 0;
    int64_t tableStride = 0;
    CUdeviceptr largest = 0, again = 0;
    int32_t rows = 0, columns = 0, depth = 0, outType = 0, gateRow = 0, upRow = 0, rowsPerToken = 1;
    float eps = 0;
    int32_t together = 1;
};

/** What a launch must know of a kernel's form. */
struct Launch {
    int blocks, tileRows, weightRows;
    unsigned threads, shared;
};

#define LAUNCH(name, type, step, epilogue, form)                                                                                   \
    {"kinema_product_" #name "_" #step,                                                                                            \
     {kinema::form::BLOCKS, kinema::form::TILE_ROWS, kinema::form::WEIGHT_ROWS, kinema::form::THREADS, kinema::form::SHARED_BYTES}},
const std::map<std::string, Launch> launches = {PRODUCT_KERNELS(LAUNCH)};

/** A matrix of 16-bit operands in device memory. */
struct View {
    CUdeviceptr at;
    int64_t rows, columns, stride;
};

View view(const Matrix& m) { return {m.at(), m.rows, m.width, m.stride}; }

/** The order of tiles in a launch. */
int together = 8;

void run(const std::string& kernel, int type, View x, View w, Product p, CUdeviceptr scales = 0) {
    const Launch& l = launches.at(kernel);
    int width = kernel.find("swiglu") == std::string::npos ? kinema::TILE_COLUMNS : kinema::TILE_COLUMNS / 2;
    int64_t tiles = ceil_div(p.rows, l.blocks * l.tileRows) * ceil_div(p.columns, width);
    static std::map<std::string, int> atOnce;
    if (atOnce.count(kernel) == 0) {
        atOnce[kernel] = driver->clusters(kernel, l.blocks, l.threads, l.shared);
        std::printf("%s: %d clusters of %d at once\n", kernel.c_str(), atOnce[kernel], l.blocks);
    }
    unsigned blocks = l.blocks * (unsigned) std::min<int64_t>(tiles, atOnce[kernel]);
    p.together = together;
    CUtensorMap out = driver->map(p.out, p.outType, p.rows, p.columns, p.outStride, kinema::PIECE_ROWS);
    launch(kernel, {blocks, 1, 1}, {l.threads, 1, 1}, l.shared, driver->map(x.at, type, x.rows, x.columns, x.stride, l.tileRows),
           driver->map(w.at, type, w.rows, w.columns, w.stride, l.weightRows), out, p, scales);
}

/** Results of all cases of a kernel, for comparison with another form of it. */
void note(const std::string& kernel, const std::vector<float>& values) { digests[kernel].add(values.data(), values.size() * 4); }

/** Operands, scales and biases of one case. */
struct Operands {
    Operands(int type, int64_t m, int64_t n, int64_t k)
            : type(type), m(m), n(n), k(k), x(m, k, type, k + 8), w(n, k, type, k + 16), scale(1, m, F32), bias(1, n, F32) {
        x.set(normal(m * k));
        w.set(normal(n * k, 1 / std::sqrt((float) k)));
        std::vector<float> powers(m);
        for (int64_t r = 0; r < m; r++) {
            powers[r] = r % 3 == 0 ? 4.0f : 1.0f;
        }
        scale.set(powers);
        bias.set(normal(n, 0.5f));
        sums.resize(m * n);
        for (int64_t r = 0; r < m; r++) {
            for (int64_t c = 0; c < n; c++) {
                double s = 0;
                for (int64_t i = 0; i < k; i++) {
                    s += (double) x.host[r * k + i] * w.host[c * k + i];
                }
                sums[r * n + c] = s * powers[r] + bias.host[c];
            }
        }
    }
    void run(const char* step, const Product& p, CUdeviceptr scales = 0) const { ::run(kernel(step), type, view(x), view(w), p, scales); }
    /** Of the last rows only. */
    void runFew(const char* step, int64_t few, const Product& p) const {
        ::run(kernel(step), type, {x.at() + (m - few) * x.stride * 2, few, k, x.stride}, view(w), p);
    }
    Product product() const {
        Product p;
        p.rowScale = scale.at();
        p.bias = bias.at();
        p.rows = m;
        p.columns = n;
        p.depth = k;
        p.outType = type;
        return p;
    }
    std::string what() const { return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k); }
    std::string kernel(const char* step) const { return std::string("kinema_product_") + name_of(type) + "_" + step; }
    int type;
    int64_t m, n, k;
    Matrix x, w, scale, bias;
    std::vector<double> sums;
};

void stored(int type, int64_t m, int64_t n, int64_t k) {
    Operands o(type, m, n, k);
    for (int out : {(int) F32, type}) {
        Matrix y(m, n, out, n + 8);
        Product p = o.product();
        p.out = y.at();
        p.outStride = y.stride;
        p.outType = out;
        o.run("store", p);
        std::vector<float> all = y.get();
        expect_near(o.kernel("store"), o.what() + " to " + name_of(out), all, o.sums, limit_of(out));
        note(o.kernel("store"), all);
        // The last rows by themselves have the bits that they have among the others.
        int64_t few = std::min<int64_t>(m, 37);
        Matrix alone(few, n, out, n + 8);
        p.rows = few;
        p.out = alone.at();
        p.rowScale = o.scale.at() + (m - few) * 4;
        o.runFew("store", few, p);
        expect_equal(o.kernel("store"), "few rows of " + o.what(), alone.get(), std::vector<float>(all.end() - few * n, all.end()));
    }
}

void residual(int type, int64_t m, int64_t n, int64_t k) {
    Operands o(type, m, n, k);
    Matrix y(m, n, F32, n + 8);
    Matrix gate(1, n, F32);
    gate.set(normal(n));
    y.set(normal(m * n));
    std::vector<double> expected(m * n);
    for (int64_t i = 0; i < m * n; i++) {
        expected[i] = y.host[i] + gate.host[i % n] * o.sums[i];
    }
    Product p = o.product();
    p.out = y.at();
    p.outStride = y.stride;
    p.outType = F32;
    p.gate = gate.at();
    o.run("residual", p);
    std::vector<float> all = y.get();
    expect_near(o.kernel("residual"), o.what(), all, expected, 1e-6);
    note(o.kernel("residual"), all);
    int64_t few = std::min<int64_t>(m, 37);
    Matrix alone(few, n, F32, n + 8);
    alone.set(std::vector<float>(y.host.end() - few * n, y.host.end()));
    p.rows = few;
    p.out = alone.at();
    p.rowScale = o.scale.at() + (m - few) * 4;
    o.runFew("residual", few, p);
    expect_equal(o.kernel("residual"), "few rows of " + o.what(), alone.get(), std::vector<float>(all.end() - few * n, all.end()));
}

float power_of(float largest) {
    int e;
    std::frexp(largest, &e);
    return std::ldexp(1.0f, e > 11 ? e - 11 : 0);
}

/** Columns [0, inner) of the weight are what is gated, the rest the gates, or the other way round. */
void swiglu(int type, int64_t m, int64_t inner, int64_t k, bool gateFirst, float size) {
    Operands o(type, m, 2 * inner, k);
    Matrix y(m, inner, type, inner + 8);
    std::vector<double> expected(m * inner);
    std::vector<float> powers(m, 1.0f);
    std::vector<float> factors(m);
    for (int64_t r = 0; r < m; r++) {
        // Some rows are large: their scale multiplies gates and values.
        factors[r] = r % 5 == 1 ? size : 1.0f;
    }
    o.scale.set(factors);
    for (int64_t r = 0; r < m; r++) {
        double largest = 0;
        for (int64_t c = 0; c < inner; c++) {
            double s[2];
            for (int half = 0; half < 2; half++) {
                int64_t at = half * inner + c;
                double unscaled = 0;
                for (int64_t i = 0; i < k; i++) {
                    unscaled += (double) o.x.host[r * k + i] * o.w.host[at * k + i];
                }
                s[half] = unscaled * factors[r] + o.bias.host[at];
            }
            double g = gateFirst ? s[0] : s[1];
            double v = g / (1 + std::exp(-g)) * (gateFirst ? s[1] : s[0]);
            largest = std::fmax(largest, std::fabs(v));
            expected[r * inner + c] = v;
        }
        powers[r] = type == F16 ? power_of((float) largest) : 1.0f;
    }
    Product p = o.product();
    p.columns = inner;
    p.out = y.at();
    p.outStride = y.stride;
    p.gateRow = gateFirst ? 0 : inner;
    p.upRow = gateFirst ? inner : 0;
    Buffer largest(m * 4);
    Matrix scales(1, m, F32);
    Buffer again(ceil_div(m, 256) * 4);
    if (type == F16) {
        driver->fill(largest.p, 0, m * 4);
        p.largest = largest.p;
    }
    o.run("swiglu", p);
    if (type == F16) {
        launch("kinema_row_scales", {(unsigned) ceil_div(m, 256), 1, 1}, {256, 1, 1}, 0, largest.p, scales.at(), again.p, m);
        p.again = again.p;
        o.run("swiglu", p, scales.at());
        expect_equal("kinema_row_scales", o.what(), scales.get(), powers);
        std::vector<int32_t> flags = again.get<int32_t>();
        for (int64_t b = 0; b < (int64_t) flags.size(); b++) {
            bool any = false;
            for (int64_t r = b * 256; r < std::min(m, (b + 1) * 256); r++) {
                any = any || powers[r] > 1;
            }
            expect_true("kinema_row_scales", "runs of " + o.what(), flags[b] == (any ? 1 : 0), std::to_string(flags[b]));
        }
    }
    std::vector<float> got = y.get();
    note(o.kernel("swiglu"), got);
    for (int64_t i = 0; i < m * inner; i++) {
        got[i] *= powers[i / inner];
    }
    // Rows are compared apart: one large row would hide the others.
    for (int64_t r = 0; r < m; r += std::max<int64_t>(1, m / 7)) {
        std::vector<float> row(got.begin() + r * inner, got.begin() + (r + 1) * inner);
        std::vector<double> want(expected.begin() + r * inner, expected.begin() + (r + 1) * inner);
        expect_near(o.kernel("swiglu"), o.what() + " row " + std::to_string(r), row, want, limit_of(type, 2e-6));
    }
}

void heads(int type, int64_t m, int64_t n, int64_t k, int rowsPerToken) {
    Operands o(type, m, n, k);
    Matrix y(m, n, type, n + 8);
    int64_t tokens = ceil_div(m, rowsPerToken);
    Matrix cosine(tokens, 48, F32);
    Matrix sine(tokens, 48, F32);
    cosine.set(normal(tokens * 48));
    sine.set(normal(tokens * 48));
    std::vector<double> expected(m * n);
    for (int64_t r = 0; r < m; r++) {
        int64_t token = r / rowsPerToken;
        for (int64_t h = 0; h < n; h += 64) {
            double x[64];
            double squares = 0;
            for (int i = 0; i < 64; i++) {
                x[i] = rounded((float) o.sums[r * n + h + i], type);
                squares += x[i] * x[i];
            }
            double inverse = 1 / std::sqrt(squares / 64 + 1e-5);
            for (int i = 0; i < 64; i++) {
                double partner = i < 24 ? -x[i + 24] : i < 48 ? x[i - 24] : 0;
                double c = i < 48 ? cosine.host[token * 48 + i] : 1;
                double s = i < 48 ? sine.host[token * 48 + i] : 0;
                expected[r * n + h + i] = (x[i] * c + partner * s) * inverse;
            }
        }
    }
    Product p = o.product();
    p.out = y.at();
    p.outStride = y.stride;
    p.cosine = cosine.at();
    p.sine = sine.at();
    p.tableStride = 48;
    p.rowsPerToken = rowsPerToken;
    p.eps = 1e-5f;
    o.run("heads", p);
    std::vector<float> got = y.get();
    expect_near(o.kernel("heads"), o.what(), got, expected, 2 * limit_of(type));
    note(o.kernel("heads"), got);
}

CUdeviceptr seeded(int64_t elements, int type, int64_t stream, float deviation = 1.0f) {
    CUdeviceptr p = driver->allocate(elements * bytes_of(type));
    Shape l = rule_l(ceil_div(elements, 8));
    launch("kinema_random", l.grid, l.block, 0, p, type, elements, (int64_t) 1, stream, 0.0f, deviation, 0);
    return p;
}

void timed(const std::string& name, double flops, const std::function<void()>& work) {
    double ms = driver->time(work, 15);
    std::printf("%-58s %8.3f ms %8.1f TFLOP/s", name.c_str(), ms, flops / ms * 1e-9);
    if (sustained_seconds > 0) {
        ms = driver->sustained(work, sustained_seconds);
        // The hour goes beside what a sensor noted of power and clocks.
        double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
        std::printf(", sustained %8.3f ms %8.1f until %.3f", ms, flops / ms * 1e-9, now);
    }
    std::printf("\n");
    std::fflush(stdout);
}

/** Whatever the order of tiles, the bits are the same. */
void orders(int type) {
    std::map<std::string, Digest> before = digests;
    std::map<std::string, Digest> first;
    std::mt19937 engine = random_engine;
    for (int order : {8, 1, 2, 3}) {
        random_engine = engine;
        digests.clear();
        together = order;
        stored(type, 1797, 520, 72);
        residual(type, 1797, 520, 72);
        swiglu(type, 1797, 264, 72, false, 300.0f);
        heads(type, 1797, 576, 72, 3);
        first = order == 8 ? digests : first;
        for (const auto& [kernel, digest] : digests) {
            expect_true(kernel, "tiles of " + std::to_string(order) + " rows of tiles together", digest.value == first[kernel].value, "other bits");
        }
    }
    together = 8;
    digests = before;
}

}  // namespace

void product_tests() {
    if (!driver->has("kinema_product_f16_store")) {
        return;
    }
    for (int type : {F16, BF16}) {
        for (int64_t m : {1, 77, 128, 300, 515}) {
            for (int64_t n : {8, 128, 264}) {
                for (int64_t k : {8, 72, 520}) {
                    if (small_shapes && m > 128) {
                        continue;
                    }
                    stored(type, m, n, k);
                    residual(type, m, n, k);
                }
            }
        }
        for (int64_t m : {1, 77, 515}) {
            if (small_shapes && m > 128) {
                continue;
            }
            swiglu(type, m, 128, 72, false, 1.0f);
            swiglu(type, m, 136, 136, true, 300.0f);
            swiglu(type, m, 264, 64, false, 300.0f);
            heads(type, m, 64, 72, 1);
            heads(type, m, 320, 200, 7);
        }
        if (!small_shapes) {
            // More tiles than clusters, so that each takes several; and the ring of stages goes round several times in a tile.
            stored(type, 1797, 2560, 72);
            residual(type, 1797, 520, 776);
            residual(type, 1797, 2560, 72);
            swiglu(type, 1797, 1280, 72, false, 300.0f);
            heads(type, 1797, 2560, 72, 3);
        }
    }
    for (int type : {F16, BF16}) {
        if (!small_shapes) {
            orders(type);
        }
    }
}

void product_speeds() {
    const int64_t rows = 14 * 1797;
    const int64_t dim = 2048;
    const int64_t inner = 8192;
    for (int type : {F16, BF16}) {
        CUdeviceptr x = seeded(rows * inner, type, 1);
        CUdeviceptr w = seeded(2 * inner * dim, type, 2, 0.02f);
        CUdeviceptr out = seeded(rows * inner, F32, 3);
        CUdeviceptr table = seeded(rows * 48, F32, 4);
        CUdeviceptr bias = seeded(2 * inner, F32, 5);
        Buffer largest(rows * 4);
        View narrow{x, rows, dim, dim};
        View wide{x, rows, inner, inner};
        Product p;
        p.bias = bias;
        p.rowScale = 0;
        p.out = out;
        p.rows = rows;
        std::string name = std::string("product ") + name_of(type);
        auto product = [&](const char* step, const char* label, View operand, int64_t n, int64_t k, int outType) {
            std::string kernel = std::string("kinema_product_") + name_of(type) + "_" + step;
            bool gated = std::string(step) == "swiglu";
            p.columns = gated ? n / 2 : n;
            p.outStride = p.columns;
            p.depth = k;
            p.outType = outType;
            p.gateRow = inner;
            p.upRow = 0;
            p.gate = bias;
            p.cosine = p.sine = table;
            p.tableStride = 48;
            p.rowsPerToken = 14;
            p.eps = 1e-5f;
            p.largest = gated && type == F16 ? largest.p : 0;
            auto known = [&] {
                Shape l = rule_l(ceil_div(rows * p.columns, 8));
                launch("kinema_random", l.grid, l.block, 0, out, outType, rows * p.columns, (int64_t) 1, (int64_t) 3, 0.0f, 1.0f, 0);
            };
            known();
            auto work = [&] { run(kernel, type, operand, {w, n, k, k}, p); };
            for (int order : product_orders) {
                together = order;
                timed(name + " " + label + " order " + std::to_string(order), 2.0 * rows * n * k, work);
            }
            together = 8;
            // Once more over known values: any form of the kernel leaves the same bits.
            known();
            work();
            driver->finish();
            std::vector<char> all(rows * p.columns * bytes_of(outType));
            driver->download(all.data(), out, all.size());
            Digest digest;
            digest.add(all.data(), all.size());
            std::printf("bits of %-50s %016llx\n", (name + " " + label).c_str(), (unsigned long long) digest.value);
        };
        product("store", "2048x2048 to f32", narrow, dim, dim, F32);
        product("store", "2048x2048 to 16 bits", narrow, dim, dim, type);
        product("heads", "2048x2048 heads", narrow, dim, dim, type);
        product("residual", "2048x2048 residual", narrow, dim, dim, F32);
        product("store", "16384x2048 to f16", narrow, 2 * inner, dim, type);
        product("swiglu", "16384x2048 swiglu", narrow, 2 * inner, dim, type);
        product("store", "2048x8192 to f32", wide, dim, inner, F32);
        product("residual", "2048x8192 residual", wide, dim, inner, F32);
        for (CUdeviceptr a : {x, w, out, table, bias}) {
            driver->free(a);
        }
    }
}
