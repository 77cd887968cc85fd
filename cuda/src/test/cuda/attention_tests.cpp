#include "harness.hpp"

#include <algorithm>
#include <memory>

namespace {

struct Problem {
    int M, N, heads, kv_heads, D;
    bool causal;
    std::string text() const {
        return std::to_string(M) + "x" + std::to_string(N) + " heads " + std::to_string(heads) + "/" + std::to_string(kv_heads) + " D " + std::to_string(D) +
                (causal ? " causal" : "");
    }
};

/** Operands whose rows and heads are strided, as slices of a fused product are. */
struct Operands {
    Operands(const Problem& p, int type, float size, float value_size = 1)
            : q(p.M, (int64_t) p.heads * p.D, type, p.heads * p.D + 2 * p.kv_heads * p.D + 8), k(p.N, (int64_t) p.kv_heads * p.D, type, p.kv_heads * p.D + 16),
              v(p.N, (int64_t) p.kv_heads * p.D, type) {
        q.set(normal(p.M * p.heads * p.D, size));
        k.set(normal(p.N * p.kv_heads * p.D, size));
        v.set(normal(p.N * p.kv_heads * p.D, value_size));
    }
    Matrix q, k, v;
};

std::vector<double> exact(const Problem& p, const Operands& o, double scale) {
    std::vector<double> out((size_t) p.M * p.heads * p.D);
    std::vector<double> weights(p.N);
    for (int m = 0; m < p.M; m++) {
        int visible = p.causal ? std::max(0, std::min(p.N, m + 1 + p.N - p.M)) : p.N;
        for (int h = 0; h < p.heads; h++) {
            int g = h * p.kv_heads / p.heads;
            const float* q = &o.q.host[((size_t) m * p.heads + h) * p.D];
            double largest = -INFINITY;
            for (int n = 0; n < visible; n++) {
                const float* k = &o.k.host[((size_t) n * p.kv_heads + g) * p.D];
                double dot = 0;
                for (int d = 0; d < p.D; d++) {
                    dot += (double) q[d] * k[d];
                }
                weights[n] = dot * scale;
                largest = std::max(largest, weights[n]);
            }
            double sum = 0;
            for (int n = 0; n < visible; n++) {
                weights[n] = std::exp(weights[n] - largest);
                sum += weights[n];
            }
            for (int n = 0; n < visible; n++) {
                const float* v = &o.v.host[((size_t) n * p.kv_heads + g) * p.D];
                for (int d = 0; d < p.D; d++) {
                    out[((size_t) m * p.heads + h) * p.D + d] += weights[n] / sum * v[d];
                }
            }
        }
    }
    return out;
}

/** The values of BF16 attention as FP16 and what their heads' scales are chosen by, both launches. */
struct Values {
    explicit Values(const Problem& p, const Matrix& v) : f16(p.N, (int64_t) p.kv_heads * p.D, F16), largest(std::vector<uint32_t>(p.kv_heads, 0)) {
        for (int again : {0, 1}) {
            launch("kinema_flash_values", {(unsigned) p.kv_heads, (unsigned) ceil_div(p.N, 128), 1}, {256, 1, 1}, 0, v.at(), v.stride, (int64_t) p.D, f16.at(), largest.p,
                   p.N, p.kv_heads, p.D, again);
        }
    }
    Matrix f16;
    Buffer largest;
};

std::vector<float> run(const std::string& kernel, const Problem& p, Operands& o, Matrix& v, Matrix& out, float scale, Dim grid, unsigned block, unsigned shared,
                       const std::function<void(Arguments&)>& last) {
    out.poison();
    Arguments a;
    for (Matrix* m : {&o.q, &o.k, &v}) {
        a.add(m->at());
        a.add(m->stride);
        a.add((int64_t) p.D);
    }
    a.add(out.at());
    a.add(out.stride);
    a.add((int64_t) p.D);
    for (int value : {out.type, p.M, p.N, p.heads, p.kv_heads, p.D}) {
        a.add(value);
    }
    a.add(scale);
    a.add((int) p.causal);
    last(a);
    launch_packed(kernel, grid, {block, 1, 1}, shared, a);
    return out.get();
}

/** The numbers of blocks that flash_hopper.cu is launched with: few that have several items each, and what the GPU runs at once, mostly an item each. */
std::vector<int> block_counts() { return small_shapes ? std::vector<int>{2} : std::vector<int>{2, 1, driver->processors}; }

HeadsAt heads_of(const Matrix& m, int heads, int D) { return {m.at(), m.type, m.rows, heads, D, m.stride, D}; }

/** Flash attention once, with v as the kernels want it; blocks are for flash_hopper.cu only. */
std::vector<float> run_flash(const std::string& kernel, const Problem& p, Operands& o, Matrix& v, CUdeviceptr largest, Matrix& out, float scale, int tile, int d, bool wgmma,
                             int blocks) {
    WgmmaLaunch hopper{tile, d};
    Dim grid = wgmma ? hopper.grid(p.M, p.heads, blocks) : Dim{(unsigned) ceil_div(p.M, tile), (unsigned) p.heads, 1};
    bool volta = !driver->has("kinema_flash_bf16_d64_q64");
    unsigned shared = wgmma ? hopper.shared() : volta ? 2 * ((tile + 32) * (d + 8) + 32 * (d + 16)) : 2 * (tile + 128) * (d + 8);
    return run(kernel, p, o, v, out, scale, grid, wgmma ? hopper.threads() : tile, shared, [&](Arguments& a) {
        a.add(largest);
        if (wgmma) {
            hopper.add_maps(a, heads_of(o.q, p.heads, p.D), heads_of(o.k, p.kv_heads, p.D), heads_of(v, p.kv_heads, p.D));
        }
    });
}

/** What FP16 probabilities cost (and an FP16 store), and one rounding of the output to BF16: evenly spread over a step, which is at most 2^-7 of a value. */
double flash_limit(int out_type) { return 6e-4 + (out_type == BF16 ? 0x1p-7 / std::sqrt(12.0) : 0); }

/** Kernels for SM70 have FP16 only. */
bool has_flash(int type) { return driver->has(std::string("kinema_flash_") + name_of(type) + "_d64_q64"); }

/** Flash attention of every tile that is loaded, against what is exact, and tiles and numbers of blocks against each other. */
void flash(const Problem& p, Operands& o, Matrix& out, float scale, const std::vector<double>& expected, const std::string& what) {
    int type = o.q.type;
    bool brain = type == BF16;
    if (!has_flash(type)) {
        return;
    }
    std::unique_ptr<Values> values(brain ? new Values(p, o.v) : nullptr);
    Matrix& v = brain ? values->f16 : o.v;
    CUdeviceptr largest = brain ? values->largest.p : 0;
    for (int d : {64, 128}) {
        for (std::string kind : {"flash_", "flash_wgmma_"}) {
            std::vector<float> first;
            for (int tile : {64, 128, 192}) {
                std::string kernel = "kinema_" + kind + name_of(type) + "_d" + std::to_string(d) + "_q" + std::to_string(tile);
                if (p.D > d || !driver->has(kernel)) {
                    continue;
                }
                bool wgmma = kind == "flash_wgmma_";
                for (int blocks : wgmma ? block_counts() : std::vector<int>{0}) {
                    std::vector<float> got = run_flash(kernel, p, o, v, largest, out, scale, tile, d, wgmma, blocks);
                    expect_near(kernel, what, got, expected, flash_limit(out.type));
                    if (first.empty()) {
                        first = got;
                    } else {
                        expect_equal(kernel, "bits of q64, " + what + (wgmma ? ", blocks " + std::to_string(blocks) : ""), got, first);
                    }
                }
            }
        }
    }
}

void attend(const Problem& p, int type, float size, int out_type, float value_size = 1) {
    Operands o(p, type, size, value_size);
    float scale = 1 / std::sqrt((float) p.D);
    std::vector<double> expected = exact(p, o, scale);
    Matrix out(p.M, (int64_t) p.heads * p.D, out_type, p.heads * p.D + 8);
    std::string what = std::string(name_of(type)) + "->" + name_of(out_type) + " " + p.text() + (value_size == 1 ? "" : " values " + std::to_string(std::ilogb(value_size)));
    unsigned heads = p.heads;
    auto typed = [&](Arguments& a) { a.add(type); };
    if (p.D <= 256) {
        expect_near("kinema_attention_reference", what, run("kinema_attention_reference", p, o, o.v, out, scale, {(unsigned) p.M, heads, 1}, 128, 0, typed), expected,
                    limit_of(out_type, 2e-6));
    }
    for (int d : {64, 128}) {
        if (p.D <= d) {
            std::string kernel = "kinema_attention_f32_d" + std::to_string(d);
            expect_near(kernel, what, run(kernel, p, o, o.v, out, scale, {(unsigned) ceil_div(p.M, 64), heads, 1}, 256, 4 * (96 * (d + 4) + 64 * 36), typed), expected,
                        limit_of(out_type, 2e-6));
        }
    }
    if (type != F32 && p.D % 8 == 0) {
        flash(p, o, out, scale, expected, what);
    }
}

/** What the scale of a head must be, found by trying powers of two instead of by exponents. */
double scale_for(const std::vector<float>& head) {
    double largest = 0;
    for (float v : head) {
        largest = std::isfinite(v) ? std::max(largest, (double) std::fabs(v)) : largest;
    }
    if (largest == 0 || (largest * 64 >= 1 && largest * 64 < 65536)) {
        return 64;
    }
    double scale = 0x1p126;
    while (largest * scale >= 65536) {
        scale /= 2;
    }
    return scale;
}

/** Values as FP16: heads of many sizes, some with zeros, infinities and NaN only or among numbers, and numbers far below their head's largest. */
void values(int N, int D) {
    std::vector<float> sizes = {1, 0x1p-6f, 0x1p-7f, 511, 1000, 1025, 0x1p90f, 0x1p127f, 0x1p-40f, 0x1p-110f, 0x1p-126f, 0x1p-133f, 0, INFINITY, NAN, 2};
    Problem p{0, N, 0, (int) sizes.size(), D, false};
    int heads = p.kv_heads;
    std::vector<float> draws = normal((size_t) N * heads * D);
    for (int n = 0; n < N; n++) {
        for (int h = 0; h < heads; h++) {
            for (int d = 0; d < D; d++) {
                float& x = draws[((size_t) n * heads + h) * D + d];
                x = std::isfinite(sizes[h]) ? std::fmod(x, 1.0f) * sizes[h] * (d % 3 == 2 ? 0x1p-20f : 1) : sizes[h];
                x = h == 3 && n % 5 == 1 ? (d % 2 ? INFINITY : NAN) : h == 6 && d == 5 ? -INFINITY : x;
            }
        }
    }
    Matrix v(N, (int64_t) heads * D, BF16, heads * D + 24, 8);
    v.set(draws);
    Values made(p, v);
    std::vector<float> expected(draws.size());
    for (int h = 0; h < heads; h++) {
        std::vector<float> head;
        for (int n = 0; n < N; n++) {
            head.insert(head.end(), &v.host[((size_t) n * heads + h) * D], &v.host[((size_t) n * heads + h) * D] + D);
        }
        double scale = scale_for(head);
        bool whole = true;
        for (size_t i = 0; i < head.size(); i++) {
            float narrow = rounded((float) (head[i] * scale), F16);
            expected[(i / D * heads + h) * D + i % D] = narrow;
            // No overflow, and all bits of what is not tiny.
            double back = narrow / scale;
            whole = whole && (!std::isfinite(head[i]) || std::fabs(head[i]) * scale < 0x1p-17 || back == head[i]);
        }
        expect_true("kinema_flash_values", "head of size " + std::to_string(sizes[h]), whole, "bits lost");
    }
    expect_equal("kinema_flash_values", std::to_string(N) + " rows of " + std::to_string(D), made.f16.get(), expected);
}

/** A value that is no number reaches every row that gives its key weight, and only its channel; a key that is none the whole of its head. */
void not_finite(int type, int key) {
    Problem p{70, 130, 3, 3, 64, false};
    if (!has_flash(type)) {
        return;
    }
    float scale = 1 / std::sqrt((float) p.D);
    Operands o(p, type, 1);
    std::vector<double> expected = exact(p, o, scale);
    std::vector<float> v = o.v.host;
    v[(key * 3 + 0) * 64 + 3] = INFINITY;
    v[(key * 3 + 0) * 64 + 5] = NAN;
    o.v.set(v);
    std::vector<float> k = o.k.host;
    k[(key * 3 + 2) * 64 + 7] = NAN;
    o.k.set(k);
    for (int m = 0; m < p.M; m++) {
        expected[(m * 3 + 0) * 64 + 3] = INFINITY;
        expected[(m * 3 + 0) * 64 + 5] = NAN;
        std::fill_n(expected.begin() + (m * 3 + 2) * 64, 64, NAN);
    }
    Matrix out(p.M, (int64_t) p.heads * p.D, F32);
    std::unique_ptr<Values> values(type == BF16 ? new Values(p, o.v) : nullptr);
    for (std::string kind : {"flash_", "flash_wgmma_"}) {
        std::string kernel = "kinema_" + kind + name_of(type) + "_d64_q128";
        if (!driver->has(kernel)) {
            continue;
        }
        std::vector<float> got = run_flash(kernel, p, o, values ? values->f16 : o.v, values ? values->largest.p : (CUdeviceptr) 0, out, scale, 128, 64,
                                           kind == "flash_wgmma_", 2);
        std::vector<double> finite;
        std::vector<float> kept;
        bool same = true;
        for (size_t i = 0; i < got.size(); i++) {
            if (std::isfinite(expected[i])) {
                finite.push_back(expected[i]);
                kept.push_back(got[i]);
            } else {
                same = same && (std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == INFINITY);
            }
        }
        expect_true(kernel, "infinity and NaN stay", same, "other values");
        expect_near(kernel, "what lies beside them", kept, finite, flash_limit(F32));
    }
}

}  // namespace

void attention_tests() {
    std::vector<Problem> problems = {{1, 1, 1, 1, 64, false}, {5, 3, 2, 1, 64, false}, {33, 65, 2, 2, 128, false}, {64, 64, 1, 1, 128, true}, {70, 130, 4, 2, 128, true},
                                     {130, 70, 2, 2, 64, true}, {129, 191, 3, 1, 72, false}, {40, 50, 2, 2, 16, false}, {200, 97, 2, 1, 40, true}, {9, 300, 1, 1, 10, false},
                                     {6, 9, 2, 2, 200, false}, {70, 144, 2, 2, 64, true}};
    if (!small_shapes) {
        problems.push_back({257, 1025, 4, 4, 128, false});
        problems.push_back({500, 500, 8, 2, 64, true});
        problems.push_back({97, 2000, 2, 2, 64, false});
        // Narrow heads whose left-over keys are a narrow tile, or one too many for it; nothing but a narrow tile; rows that see no key.
        problems.push_back({261, 389, 7, 7, 64, false});
        problems.push_back({70, 145, 2, 1, 64, true});
        problems.push_back({40, 16, 2, 2, 64, true});
        problems.push_back({400, 260, 5, 5, 64, true});
        // More items than multiprocessors.
        problems.push_back({200, 133, 64, 64, 64, false});
        problems.push_back({150, 170, 48, 16, 128, true});
    }
    for (const Problem& p : problems) {
        for (int type : {F32, F16, BF16}) {
            attend(p, type, 1, type);
            attend(p, type, 3, F32);
        }
    }
    for (float size : {0x1p-120f, 0x1p-30f, 0x1p-9f, 100.0f, 3000.0f, 0x1p60f, 0x1p120f}) {
        attend({70, 130, 4, 2, 128, true}, BF16, 1, F32, size);
        attend({129, 191, 3, 1, 72, false}, BF16, 1, F32, size);
    }
    for (int type : {F16, BF16}) {
        for (int key : {0, 2, 3, 9, 129}) {
            not_finite(type, key);
        }
    }
    if (driver->has("kinema_flash_values")) {
        for (int D : {8, 40, 64, 72, 128}) {
            values(D == 64 ? 1 : 300, D);
        }
    }
}
