#include "harness.hpp"

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
    Operands(const Problem& p, int type, float size)
            : q(p.M, (int64_t) p.heads * p.D, type, p.heads * p.D + 2 * p.kv_heads * p.D + 8), k(p.N, (int64_t) p.kv_heads * p.D, type, p.kv_heads * p.D + 16),
              v(p.N, (int64_t) p.kv_heads * p.D, type) {
        q.set(normal(p.M * p.heads * p.D, size));
        k.set(normal(p.N * p.kv_heads * p.D, size));
        v.set(normal(p.N * p.kv_heads * p.D));
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

std::vector<float> run(const std::string& kernel, const Problem& p, Operands& o, Matrix& out, float scale, Dim grid, unsigned block, unsigned shared, bool typed) {
    out.poison();
    Arguments a;
    for (Matrix* m : {&o.q, &o.k, &o.v}) {
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
    if (typed) {
        a.add(o.q.type);
    }
    launch_packed(kernel, grid, {block, 1, 1}, shared, a);
    return out.get();
}

unsigned flash_shared(int tile, int d) {
    bool volta = driver->has("kinema_flash_bf16_d64_q64") == false;
    return volta ? 2 * ((tile + 32) * (d + 8) + 32 * (d + 16)) : 2 * (tile + 128) * (d + 8);
}

void attend(const Problem& p, int type, float size, int out_type) {
    Operands o(p, type, size);
    float scale = 1 / std::sqrt((float) p.D);
    std::vector<double> expected = exact(p, o, scale);
    Matrix out(p.M, (int64_t) p.heads * p.D, out_type, p.heads * p.D + 8);
    std::string what = std::string(name_of(type)) + "->" + name_of(out_type) + " " + p.text();
    unsigned heads = p.heads;
    if (p.D <= 256) {
        expect_near("kinema_attention_reference", what, run("kinema_attention_reference", p, o, out, scale, {(unsigned) p.M, heads, 1}, 128, 0, true), expected,
                    limit_of(out_type, 2e-6));
    }
    for (int d : {64, 128}) {
        if (p.D > d) {
            continue;
        }
        std::string width = "_d" + std::to_string(d);
        expect_near("kinema_attention_f32" + width, what,
                    run("kinema_attention_f32" + width, p, o, out, scale, {(unsigned) ceil_div(p.M, 64), heads, 1}, 256, 4 * (96 * (d + 4) + 64 * 36), true), expected,
                    limit_of(out_type, 2e-6));
        if (type == F32 || p.D % 8 != 0 || !driver->has(std::string("kinema_flash_") + name_of(type) + "_d64_q64")) {
            continue;
        }
        for (std::string kind : {"flash_", "flash_wgmma_"}) {
            std::vector<float> first;
            for (int tile : {64, 128, 192}) {
                std::string kernel = "kinema_" + kind + name_of(type) + width + "_q" + std::to_string(tile);
                if (!driver->has(kernel)) {
                    continue;
                }
                bool wgmma = kind == "flash_wgmma_";
                unsigned block = wgmma ? tile * 2 + 128 : tile;
                unsigned shared = wgmma ? 2 * d * (tile + 8 * (d == 64 ? 128 : 80)) + 1152 : flash_shared(tile, d);
                std::vector<float> got = run(kernel, p, o, out, scale, {(unsigned) ceil_div(p.M, tile), heads, 1}, block, shared, false);
                expect_near(kernel, what, got, expected, type == F16 ? 6e-4 : 4.5e-3);
                if (tile == 64) {
                    first = got;
                } else {
                    expect_equal(kernel, "bits of q64, " + what, got, first);
                }
            }
        }
    }
}

}  // namespace

void attention_tests() {
    std::vector<Problem> problems = {{1, 1, 1, 1, 64, false}, {5, 3, 2, 1, 64, false}, {33, 65, 2, 2, 128, false}, {64, 64, 1, 1, 128, true}, {70, 130, 4, 2, 128, true},
                                     {130, 70, 2, 2, 64, true}, {129, 191, 3, 1, 72, false}, {40, 50, 2, 2, 16, false}, {200, 97, 2, 1, 40, true}, {9, 300, 1, 1, 10, false},
                                     {6, 9, 2, 2, 200, false}};
    if (!small_shapes) {
        problems.push_back({257, 1025, 4, 4, 128, false});
        problems.push_back({500, 500, 8, 2, 64, true});
        problems.push_back({97, 2000, 2, 2, 64, false});
    }
    for (const Problem& p : problems) {
        for (int type : {F32, F16, BF16}) {
            attend(p, type, 1, type);
            attend(p, type, 3, F32);
        }
    }
}
