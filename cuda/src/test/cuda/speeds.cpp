// Times of the kernels on the hot path at the released size: 34,551 rows, width 5376, 56 heads of 128, feed-forward 14336.
#include "harness.hpp"

namespace {

constexpr int64_t ROWS = 34551;
constexpr int64_t WIDTH = 5376;
constexpr int64_t INNER = 7168;
constexpr int64_t FFN = 14336;

CUdeviceptr seeded(int64_t elements, int type, int64_t stream) {
    CUdeviceptr p = driver->allocate(elements * bytes_of(type));
    Shape l = rule_l(ceil_div(elements, 8));
    launch("kinema_random", l.grid, l.block, 0, p, type, elements, (int64_t) 1, stream, 0.0f, 1.0f, 0);
    return p;
}

void moved(const char* name, double bytes, const std::function<void()>& run) {
    double ms = driver->time(run);
    std::printf("%-58s %8.3f ms %8.0f GB/s\n", name, ms, bytes / ms * 1e-6);
}

void computed(const std::string& name, double flops, const std::function<void()>& run) {
    double ms = sustained_seconds > 0 ? driver->sustained(run, sustained_seconds) : driver->time(run, 5);
    std::printf("%-58s %8.3f ms %8.1f TFLOP/s\n", name.c_str(), ms, flops / ms * 1e-9);
}

void memory_bound() {
    CUdeviceptr residual = seeded(ROWS * WIDTH, F32, 1);
    CUdeviceptr x = seeded(ROWS * WIDTH, F32, 2);
    CUdeviceptr out = seeded(ROWS * WIDTH, F32, 3);
    CUdeviceptr tables = seeded(6 * 3 * WIDTH, F32, 4);
    CUdeviceptr weight = seeded(WIDTH, BF16, 5);
    CUdeviceptr scales = driver->allocate(ROWS * 4);
    std::vector<int32_t> rows(ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        rows[i] = i < 97 ? 0 : i < 511 ? 1 : 2;
    }
    Buffer index(rows);
    double n = (double) ROWS * WIDTH;
    Rows view{WIDTH, 0, 1, 0};
    Shape r = rule_r(ROWS, WIDTH);
    Shape e = rule_e(ROWS, WIDTH);
    Shape flat = rule_e(1, ROWS * WIDTH);
    moved("copy f32 (unary convert, 1 row)", 8 * n, [&] {
        launch("kinema_unary", flat.grid, flat.block, 0, 5, x, Rows{}, (int) F32, out, Rows{}, (int) F32, (int64_t) 1, ROWS * WIDTH, 0.0f, 0.0f);
    });
    for (int type : {F32, F16, BF16}) {
        moved((std::string("rms_norm_modulate f32->") + name_of(type)).c_str(), (4 + bytes_of(type)) * n, [&] {
            launch("kinema_rms_norm_modulate", r.grid, r.block, 0, x, WIDTH, weight, (int) BF16, 1e-5f, tables, 6 * WIDTH, tables + WIDTH * 4, 6 * WIDTH, index.p, out,
                   WIDTH, type, ROWS, WIDTH);
        });
    }
    moved("rms_norm_modulate_prepare_f16", 6 * n, [&] {
        launch("kinema_rms_norm_modulate_prepare_f16", r.grid, r.block, 0, x, WIDTH, weight, (int) BF16, 1e-5f, tables, 6 * WIDTH, tables + WIDTH * 4, 6 * WIDTH, index.p,
               out, WIDTH, scales, ROWS, WIDTH);
    });
    moved("prepare_f16", 6 * n, [&] { launch("kinema_prepare_f16", r.grid, r.block, 0, x, WIDTH, out, WIDTH, scales, ROWS, WIDTH); });
    moved("rms_norm f32->f32", 8 * n, [&] {
        launch("kinema_rms_norm", r.grid, r.block, 0, x, view, (int) F32, weight, (int) BF16, 1e-5f, out, view, (int) F32, ROWS, WIDTH);
    });
    for (int type : {F32, BF16}) {
        moved((std::string("gated_residual_add x ") + name_of(type)).c_str(), (8 + bytes_of(type)) * n, [&] {
            launch("kinema_gated_residual_add", e.grid, e.block, 0, residual, view, x, view, type, tables, 6 * WIDTH, index.p, ROWS, WIDTH);
        });
    }
    Shape l = rule_l(ROWS * WIDTH / 16);
    moved("rotate 256 bf16->bf16", 4 * n, [&] { launch("kinema_rotate", l.grid, l.block, 0, x, WIDTH, (int) BF16, out, WIDTH, (int) BF16, ROWS, WIDTH, 256); });
    moved("epilogue f32->bf16, row scale", 6 * n, [&] {
        launch("kinema_epilogue", e.grid, e.block, 0, x, WIDTH, scales, (CUdeviceptr) 0, 0, (CUdeviceptr) 0, (int64_t) 0, 0.0f, out, WIDTH, (int) BF16, ROWS, WIDTH);
    });
    for (CUdeviceptr p : {residual, x, out, tables, weight, scales}) {
        driver->free(p);
    }
}

void wide() {
    CUdeviceptr both = seeded(ROWS * 2 * FFN, BF16, 6);
    CUdeviceptr out = seeded(ROWS * FFN, BF16, 7);
    CUdeviceptr scales = driver->allocate(ROWS * 4);
    Rows view{2 * FFN, 0, 1, 0};
    Rows outView{FFN, 0, 1, 0};
    Shape e = rule_e(ROWS, FFN);
    Shape r = rule_r(ROWS, FFN);
    double n = (double) ROWS * FFN;
    for (int type : {F16, BF16}) {
        moved((std::string("swiglu ") + name_of(type)).c_str(), 6 * n, [&] {
            launch("kinema_binary", e.grid, e.block, 0, 1, both, view, type, both + FFN * 2, view, type, out, outView, type, ROWS, FFN);
        });
    }
    moved("swiglu_prepare_f16", 6 * n, [&] {
        launch("kinema_swiglu_prepare_f16", r.grid, r.block, 0, both, 2 * FFN, both + FFN * 2, 2 * FFN, (int) F16, out, FFN, scales, ROWS, FFN);
    });
    Shape d = rule_e(2 * FFN, WIDTH);
    CUdeviceptr codes = driver->allocate(2 * FFN * WIDTH);
    CUdeviceptr factors = seeded(2 * FFN, F32, 8);
    double w = 2.0 * FFN * WIDTH;
    moved("decode_rows int8->bf16, 28672x5376", 3 * w, [&] {
        launch("kinema_decode_rows", d.grid, d.block, 0, codes, WIDTH, factors, both, WIDTH, (int) BF16, 2 * FFN, WIDTH);
    });
    Shape t = rule_e(WIDTH, 2 * FFN);
    moved("decode_columns int8->f16, 28672x5376", 3 * w, [&] {
        launch("kinema_decode_columns", t.grid, t.block, 0, codes, 2 * FFN, factors, both, 2 * FFN, (int) F16, WIDTH, 2 * FFN);
    });
    Shape l = rule_l(ceil_div(ROWS * 2 * FFN, 8));
    moved("random normal bf16", 2.0 * ROWS * 2 * FFN, [&] {
        launch("kinema_random", l.grid, l.block, 0, both, (int) BF16, ROWS * 2 * FFN, (int64_t) 1, (int64_t) 2, 0.0f, 0.02f, 0);
    });
    for (CUdeviceptr p : {both, out, scales, codes, factors}) {
        driver->free(p);
    }
}

/** Queries, keys and values side by side, as a fused product leaves them. */
struct Heads {
    CUdeviceptr qkv;
    int64_t stride;
    int rows, heads, d;
    bool brain;
    CUdeviceptr part(int i) const { return qkv + (CUdeviceptr) i * heads * d * 2; }
};

/** Attention alone; the values of BF16 attention are made FP16 before, which is timed by itself. */
void flash(const Heads& h, const std::string& family, const std::string& tile_text) {
    std::string kernel = family + "_d" + std::to_string(h.d) + "_q" + tile_text;
    if (!driver->has(kernel)) {
        return;
    }
    int tile = std::stoi(tile_text);
    bool wgmma = family.find("wgmma") != std::string::npos;
    bool volta = !driver->has("kinema_flash_bf16_d64_q64");
    int64_t width = (int64_t) h.heads * h.d;
    std::string what = ", " + std::to_string(h.rows) + " rows, " + std::to_string(h.heads) + " heads";
    CUdeviceptr out = driver->allocate(h.rows * width * 2);
    CUdeviceptr v = h.part(2);
    int64_t stride = h.stride;
    CUdeviceptr largest = driver->allocate(h.heads * 4);
    if (h.brain) {
        v = driver->allocate(h.rows * width * 2);
        stride = width;
        moved(("kinema_flash_values, both launches, d" + std::to_string(h.d) + what).c_str(), 4.0 * h.rows * width, [&] {
            driver->fill(largest, 0, h.heads * 4);
            for (int again : {0, 1}) {
                launch("kinema_flash_values", {(unsigned) h.heads, (unsigned) ceil_div(h.rows, 128), 1}, {256, 1, 1}, 0, h.part(2), h.stride, (int64_t) h.d, v, largest,
                       h.rows, h.heads, h.d, again);
            }
        });
    }
    WgmmaLaunch hopper{tile, h.d};
    unsigned shared = wgmma ? hopper.shared() : volta ? 2 * ((tile + 32) * (h.d + 8) + 32 * (h.d + 16)) : 2 * (tile + 128) * (h.d + 8);
    unsigned block = wgmma ? hopper.threads() : tile;
    Dim grid = wgmma ? hopper.grid(h.rows, h.heads, driver->processors) : Dim{(unsigned) ceil_div(h.rows, tile), (unsigned) h.heads, 1};
    int type = h.brain ? BF16 : F16;
    auto heads = [&](CUdeviceptr at, int of, int64_t row_stride) { return HeadsAt{at, of, h.rows, h.heads, h.d, row_stride, h.d}; };
    HeadsAt q = heads(h.part(0), type, h.stride);
    HeadsAt k = heads(h.part(1), type, h.stride);
    HeadsAt values = heads(v, F16, stride);
    Arguments a;
    for (const HeadsAt& x : {q, k, values, heads(out, type, width)}) {
        a.add(x.at);
        a.add(x.row_stride);
        a.add(x.head_stride);
    }
    for (int value : {type, h.rows, h.rows, h.heads, h.heads, h.d}) {
        a.add(value);
    }
    a.add(1 / std::sqrt((float) h.d));
    a.add(0);
    a.add(h.brain ? largest : (CUdeviceptr) 0);
    if (wgmma) {
        hopper.add_maps(a, q, k, values);
    }
    computed(kernel + what, 4.0 * h.rows * h.rows * h.heads * h.d, [&] { launch_packed(kernel, grid, {block, 1, 1}, shared, a); });
    if (h.brain) {
        driver->free(v);
    }
    driver->free(out);
    driver->free(largest);
}

void attention() {
    CUdeviceptr qkv = seeded(ROWS * 3 * INNER, BF16, 9);
    CUdeviceptr half = seeded(ROWS * 3 * INNER, F16, 10);
    CUdeviceptr out = seeded(ROWS * INNER, F16, 11);
    CUdeviceptr table = seeded(ROWS * 96, F32, 12);
    CUdeviceptr weight = seeded(128, F32, 13);
    int heads = 56;
    Dim grid{(unsigned) ceil_div(ROWS * (heads / 4), 16), 1, 1};
    moved("head_norm_rotary bf16 (q in place)", 4.0 * ROWS * INNER, [&] {
        launch("kinema_head_norm_rotary", grid, {256, 1, 1}, 0, qkv, 3 * INNER, (int64_t) 128, (int) BF16, 1, weight, (int) F32, 1e-5f, table, (int64_t) 96, table,
               (int64_t) 96, (int) F32, 96, qkv, 3 * INNER, (int64_t) 128, (int) BF16, ROWS, heads, 128);
    });
    bool volta = !driver->has("kinema_flash_bf16_d64_q64");
    for (std::string type : {"f16", "bf16"}) {
        CUdeviceptr base = type == "f16" ? half : qkv;
        for (int d : {128, 64}) {
            Heads h{base, 3 * INNER, volta ? 8192 : (int) ROWS, heads, d, type == "bf16"};
            for (std::string tile : {"128", "64"}) {
                if (tile == "128" || d == 128) {
                    flash(h, "kinema_flash_" + type, tile);
                }
            }
            for (std::string tile : {"192", "128", "64"}) {
                flash(h, "kinema_flash_wgmma_" + type, tile);
            }
        }
        // A chunk of the video decoder: 14 tiles of 32 heads.
        flash({base, 3 * 448 * 64, 1797, 448, 64, type == "bf16"}, "kinema_flash_wgmma_" + type, "192");
    }
    int rows = 4096;
    for (int d : {64, 128}) {
        computed("kinema_attention_f32_d" + std::to_string(d) + ", 4096 rows, 56 heads", 4.0 * rows * rows * heads * d, [&] {
            launch("kinema_attention_f32_d" + std::to_string(d), {64, (unsigned) heads, 1}, {256, 1, 1}, 4 * (96 * (d + 4) + 64 * 36), half, 3 * INNER, (int64_t) d,
                   half + INNER * 2, 3 * INNER, (int64_t) d, half + 2 * INNER * 2, 3 * INNER, (int64_t) d, out, INNER, (int64_t) d, (int) F16, rows, rows, heads, heads, d,
                   1 / std::sqrt((float) d), 0, (int) F16);
        });
    }
    for (CUdeviceptr p : {qkv, half, out, table, weight}) {
        driver->free(p);
    }
}

void convolutions() {
    struct Geometry {
        int32_t v[22];
    };
    // A middle layer of the video encoder: 256 -> 256 channels, 3x3x3, 9 frames of 184x320.
    Geometry g{{1, 256, 9, 184, 320, 256, 9, 184, 320, 3, 3, 3, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1}};
    int64_t positions = 9 * 184 * 320;
    CUdeviceptr x = seeded(256 * positions, F32, 14);
    CUdeviceptr w = seeded(256 * 256 * 27, F32, 15);
    CUdeviceptr out = seeded(256 * positions, F32, 16);
    computed("conv_wide 256->256 3x3x3, 9x184x320", 2.0 * 256 * 256 * 27 * positions, [&] {
        launch("kinema_conv_wide", {(unsigned) ceil_div(positions, 128), 4, 1}, {256, 1, 1}, 0, x, w, w, out, g);
    });
    // A late layer of the audio decoder: 16 -> 16 channels, 11 taps, 165,600 samples of two channels.
    Geometry a{{2, 16, 1, 1, 165600, 16, 1, 1, 165600, 1, 1, 11, 1, 1, 1, 1, 1, 5, 0, 0, 25, 0}};
    computed("conv_narrow 16->16, 11 taps, 2 x 165600", 2.0 * 16 * 16 * 11 * 2 * 165600, [&] {
        launch("kinema_conv_narrow", {(unsigned) ceil_div(165600, 256), 1, 2}, {256, 1, 1}, 0, x, w, w, out, a);
    });
    moved("anti_aliased_snake 2 x 16 x 165600", 8.0 * 32 * 165600, [&] {
        launch("kinema_anti_aliased_snake", {(unsigned) ceil_div(165600, 256), 32, 1}, {256, 1, 1}, 4 * (255 * 2 + 12), x, w, 12, w, 12, 2, w, w, out, 165600, 16, 32);
    });
    moved("group_norm 256 channels, 9x184x320, silu (two passes)", 12.0 * 256 * positions, [&] {
        int64_t area = 184 * 320;
        int chunks = (int) std::min<int64_t>(64, 8 * area / 8192);
        Dim grid{(unsigned) chunks, 9, 32};
        launch("kinema_group_norm_stats", grid, {256, 1, 1}, 0, x, w, 8, 9, area, chunks);
        launch("kinema_group_norm_apply", grid, {256, 1, 1}, 0, x, w, w, w, 1e-6f, 1, out, (int) F32, 8, 9, area, chunks);
    });
    for (CUdeviceptr p : {x, w, out}) {
        driver->free(p);
    }
}

}  // namespace

void attention_speeds() { attention(); }

void speeds() {
    memory_bound();
    wide();
    attention();
    convolutions();
}
