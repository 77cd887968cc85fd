#include "harness.hpp"

#include <algorithm>

namespace {

const int MOST_RANKS = 8;
const int TREES = 15;

struct Peers {
    CUdeviceptr at[MOST_RANKS];
};

struct Table {
    int32_t packed[16];
};

struct Tree {
    int order[4];
    bool balanced;
};

/** In the order of the codes: chains ((p + q) + r) + s, and (p + q) + (r + s). */
const Tree ALL[TREES] = {{{2, 3, 1, 0}, false}, {{1, 2, 3, 0}, false}, {{1, 3, 2, 0}, false}, {{0, 1, 2, 3}, true},  {{0, 2, 1, 3}, true},
                         {{1, 2, 0, 3}, false}, {{0, 1, 2, 3}, false}, {{0, 2, 1, 3}, false}, {{0, 3, 1, 2}, true},  {{1, 3, 0, 2}, false},
                         {{0, 1, 3, 2}, false}, {{0, 3, 1, 2}, false}, {{2, 3, 0, 1}, false}, {{0, 2, 3, 1}, false}, {{0, 3, 2, 1}, false}};

float sum(const Tree& tree, const float x[4]) {
    volatile float first = x[tree.order[0]] + x[tree.order[1]];
    if (tree.balanced) {
        volatile float second = x[tree.order[2]] + x[tree.order[3]];
        return first + second;
    }
    volatile float third = first + x[tree.order[2]];
    return third + x[tree.order[3]];
}

/** Values of many magnitudes, so that every order of addition has bits of its own; some are infinite, some subnormal, some zeros with a sign. */
std::vector<float> wide(size_t n) {
    std::vector<float> values = normal(n);
    for (size_t i = 0; i < n; i++) {
        values[i] = std::ldexp(values[i], (int) (random_engine() % 60) - 30);
        unsigned kind = random_engine() % 64;
        values[i] = kind == 0 ? INFINITY : kind == 1 ? 1e-40f : kind == 2 ? -0.0f : values[i];
    }
    return values;
}

/** All ranks' shares, one launch each as on real ranks; buffers begin at `offset` elements. */
void ring(int ranks, int64_t elements, int64_t chunk, int64_t offset) {
    std::vector<Matrix*> buffers;
    Peers peers = {};
    for (int r = 0; r < ranks; r++) {
        buffers.push_back(new Matrix(1, elements, F32, elements, offset));
        buffers[r]->set(wide(elements));
        peers.at[r] = buffers[r]->at();
    }
    int64_t chunks = ceil_div(elements, chunk);
    for (int r = 0; r < ranks; r++) {
        int64_t from = std::min(elements, chunks * r / ranks * chunk);
        int64_t to = std::min(elements, chunks * (r + 1) / ranks * chunk);
        if (to > from) {
            Shape s = rule_l((to - from) / 4 + 1);
            launch("kinema_ring_sum", s.grid, s.block, 0, peers, ranks, from, to, chunk);
        }
    }
    std::vector<float> expected(elements);
    for (int64_t i = 0; i < elements; i++) {
        int64_t slot = i / chunk;
        volatile float x = buffers[(slot + 1) % ranks]->host[i];
        for (int k = 2; k <= ranks; k++) {
            x = x + buffers[(slot + k) % ranks]->host[i];
        }
        expected[i] = x;
    }
    for (int r = 0; r < ranks; r++) {
        expect_equal("kinema_ring_sum", std::to_string(ranks) + " ranks, " + std::to_string(elements) + " by " + std::to_string(chunk), buffers[r]->get(), expected);
        delete buffers[r];
    }
}

/** Every element has a tree of its own; probes of one value for each rank must find it again, and the sum must use it. */
void peers(int64_t elements, int64_t offset) {
    std::vector<uint8_t> tree(elements);
    for (int64_t i = 0; i < elements; i++) {
        tree[i] = (uint8_t) (random_engine() % TREES);
    }
    std::string what = std::to_string(elements) + " elements from " + std::to_string(offset);
    Buffer possible(std::vector<uint16_t>(elements, 0xffff));
    float big = 16777216.0f;
    float probe[4] = {big, -big, 1, 1};
    std::sort(probe, probe + 4);
    do {
        Table expected = {};
        for (int code = 0; code < TREES; code++) {
            expected.packed[code] = (int32_t) float_bits(sum(ALL[code], probe));
        }
        std::vector<float> results(elements);
        for (int64_t i = 0; i < elements; i++) {
            results[i] = sum(ALL[tree[i]], probe);
        }
        Buffer result(results);
        Shape s = rule_l(elements);
        launch("kinema_peer_narrow", s.grid, s.block, 0, result.p, expected, possible.p, elements);
    } while (std::next_permutation(probe, probe + 4));
    std::vector<uint16_t> masks = possible.get<uint16_t>();
    bool found = true;
    for (int64_t i = 0; i < elements; i++) {
        found = found && masks[i] == 1u << tree[i];
    }
    expect_true("kinema_peer_narrow", what, found, "another tree than that of the probes");
    // Two elements whose tree cannot be told: none left, and two left.
    int64_t unclear = elements > 2 ? 2 : 0;
    if (unclear > 0) {
        masks[0] = 0;
        masks[elements - 1] = 0x11;
    }
    Buffer given(masks);
    Buffer codes((size_t) elements);
    Buffer count(std::vector<uint64_t>{0});
    Shape s = rule_l(elements);
    launch("kinema_peer_code", s.grid, s.block, 0, given.p, codes.p, elements, count.p);
    std::vector<uint8_t> got = codes.get<uint8_t>();
    bool coded = (int64_t) count.get<uint64_t>()[0] == unclear;
    for (int64_t i = unclear > 0 ? 1 : 0; i < elements - (unclear > 0 ? 1 : 0); i++) {
        coded = coded && got[i] == tree[i];
    }
    expect_true("kinema_peer_code", what, coded, std::to_string(count.get<uint64_t>()[0]) + " unclear");
    Table packed = {};
    for (int code = 0; code < TREES; code++) {
        const Tree& t = ALL[code];
        packed.packed[code] = t.order[0] | t.order[1] << 2 | t.order[2] << 4 | t.order[3] << 6 | (t.balanced ? 256 : 0);
    }
    Matrix a(1, elements, F32, elements, offset), b(1, elements, F32, elements, offset), c(1, elements, F32, elements, offset), d(1, elements, F32, elements, offset);
    Matrix out(1, elements, F32);
    for (Matrix* m : {&a, &b, &c, &d}) {
        m->set(wide(elements));
    }
    Buffer all(tree);
    s = rule_l(elements / 4 + 1);
    launch("kinema_peer_sum", s.grid, s.block, 0, a.at(), b.at(), c.at(), d.at(), all.p, packed, out.at(), elements);
    std::vector<float> expected(elements);
    for (int64_t i = 0; i < elements; i++) {
        float x[4] = {a.host[i], b.host[i], c.host[i], d.host[i]};
        expected[i] = sum(ALL[tree[i]], x);
    }
    expect_equal("kinema_peer_sum", what, out.get(), expected);
}

}  // namespace

void collective_tests() {
    for (int ranks : {1, 2, 3, 4, 8}) {
        ring(ranks, 1, 32768, 0);
        ring(ranks, 1001, 8, 0);
        ring(ranks, 1001, 7, 0);
        ring(ranks, 4099, 64, 1);
        ring(ranks, small_shapes ? 40000 : 300007, 32768, 0);
    }
    for (int64_t elements : {1, 3, 4, 77, small_shapes ? 5000 : 100003}) {
        peers(elements, 0);
        peers(elements, 1);
    }
}
