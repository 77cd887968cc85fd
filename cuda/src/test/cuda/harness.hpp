// A small harness for the kernel tests: the CUDA driver through dlopen, launches by name, matrices with gaps that are checked.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

enum Type { F32 = 0, F16 = 1, BF16 = 2, F64 = 3 };

inline const char* name_of(int type) { return type == F32 ? "f32" : type == F16 ? "f16" : type == BF16 ? "bf16" : "f64"; }
inline int bytes_of(int type) { return type == F32 ? 4 : type == F64 ? 8 : 2; }

// ---- values --------------------------------------------------------------------------------------------------------

inline float bits_float(uint32_t bits) {
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
}

inline uint32_t float_bits(float f) {
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
}

inline uint16_t to_half(float f, int type) {
    if (type == F16) {
        _Float16 h = (_Float16) f;
        uint16_t bits;
        std::memcpy(&bits, &h, 2);
        return bits;
    }
    uint32_t bits = float_bits(f);
    if (f != f) {
        return (uint16_t) ((bits >> 16) | 0x40);
    }
    return (uint16_t) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float from_half(uint16_t bits, int type) {
    if (type == F16) {
        _Float16 h;
        std::memcpy(&h, &bits, 2);
        return (float) h;
    }
    return bits_float((uint32_t) bits << 16);
}

/** The value that survives a store in this type. */
inline float rounded(float f, int type) { return type == F32 || type == F64 ? f : from_half(to_half(f, type), type); }

// ---- driver --------------------------------------------------------------------------------------------------------

/** What a kernel takes on this GPU, as the driver has loaded or compiled it. Local memory is stack and spills. */
struct Resources {
    int registers = 0;
    int shared_bytes = 0;
    int local_bytes = 0;
};

/** Where an operand of attention [rows, heads, channels] lies; strides count elements. */
struct HeadsAt {
    CUdeviceptr at;
    int type;
    int64_t rows, heads, channels, row_stride, head_stride;
};

/** The driver's functions, found at run time; any code but success ends the program with the call's name. */
struct Driver {
    Driver();
    void load(const std::string& folder, const std::string& form);
    CUfunction function(const std::string& name) const;
    bool has(const std::string& name) const { return functions.count(name) > 0; }
    Resources resources(CUfunction f) const;
    CUdeviceptr allocate(size_t bytes);
    void free(CUdeviceptr p);
    void upload(CUdeviceptr to, const void* from, size_t bytes);
    void download(void* to, CUdeviceptr from, size_t bytes);
    void fill(CUdeviceptr to, unsigned char byte, size_t bytes);
    void finish();
    /** Heads [rows, heads, channels] of 16-bit floats for the copy engine: boxes of 64 channels of one head by some rows, swizzled. */
    CUtensorMap map(const HeadsAt& heads, int box_rows);
    /** A matrix [rows, columns] for the copy engine: boxes of so many rows of 128 bytes, swizzled. */
    CUtensorMap map(CUdeviceptr at, int type, int64_t rows, int64_t columns, int64_t stride, int boxRows = 128);
    /** Clusters of so many blocks that the GPU runs at once. */
    int clusters(const std::string& kernel, int blocks, unsigned threads, unsigned shared) const;
    /** Median milliseconds of several runs, by events. */
    double time(const std::function<void()>& run, int runs = 7);
    /** Mean milliseconds of a run in the second half of so many seconds of nothing else: what power and heat leave of the clock. */
    double sustained(const std::function<void()>& run, double seconds);

    std::map<std::string, CUfunction> functions;
    std::string device;
    int major = 0;
    int minor = 0;
    int processors = 0;
};

extern Driver* driver;

struct Dim {
    unsigned x = 1, y = 1, z = 1;
};

struct Rows {
    int64_t outer = 0, inner = 0;
    int32_t count = 1, unused = 0;
};

/** Parameters one after the other; the driver knows where the kernel wants each. */
class Arguments {
public:
    template <class T>
    void add(const T& value) {
        while (bytes.size() % 8 != 0) {
            bytes.push_back(0);
        }
        places.push_back(bytes.size());
        const char* p = (const char*) &value;
        bytes.insert(bytes.end(), p, p + sizeof(T));
    }
    std::vector<char> bytes;
    std::vector<size_t> places;
};

void launch_packed(const std::string& name, Dim grid, Dim block, unsigned shared, const Arguments& arguments);

template <class... T>
void launch(const std::string& name, Dim grid, Dim block, unsigned shared, const T&... values) {
    Arguments arguments;
    (arguments.add(values), ...);
    launch_packed(name, grid, block, shared, arguments);
}

// Launch rules of KERNELS.md.
struct Shape {
    Dim grid, block;
};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline Shape rule_e(int64_t rows, int64_t width) {
    int64_t v = ceil_div(width, 8);
    unsigned bx = 1;
    while (bx < v && bx < 256) {
        bx *= 2;
    }
    unsigned by = 256 / bx;
    int64_t gy = ceil_div(rows, by);
    return {{(unsigned) ceil_div(v, bx), (unsigned) (gy < 65535 ? gy : 65535), 1}, {bx, by, 1}};
}

inline Shape rule_r(int64_t rows, int64_t width) {
    int64_t v = ceil_div(width, 8);
    int64_t p = ceil_div(v, 256);
    return {{(unsigned) rows, 1, 1}, {(unsigned) (32 * ceil_div(ceil_div(v, p), 32)), 1, 1}};
}

inline Shape rule_l(int64_t n) {
    int64_t g = ceil_div(n, 256);
    return {{(unsigned) (g < (1 << 20) ? g : (1 << 20)), 1, 1}, {256, 1, 1}};
}

/** How flash_hopper.cu is launched: its blocks take item after item, so there may be any number of them. */
struct WgmmaLaunch {
    int tile, d;

    int keys() const { return d == 64 ? 128 : 80; }
    unsigned threads() const { return 2 * tile + 128; }
    unsigned shared() const { return 2 * d * ((d == 64 ? 2 : 1) * tile + 8 * keys()) + 1184; }
    Dim grid(int rows, int heads, int blocks) const { return {(unsigned) std::min<int64_t>(ceil_div(rows, tile) * heads, blocks), 1, 1}; }
    /** The arguments that follow those of all flash kernels. */
    void add_maps(Arguments& a, const HeadsAt& q, const HeadsAt& k, const HeadsAt& v) const {
        a.add(driver->map(q, 64));
        a.add(driver->map(k, keys()));
        a.add(driver->map(v, keys()));
    }
};

// ---- tensors -------------------------------------------------------------------------------------------------------

extern std::mt19937 random_engine;

std::vector<float> normal(size_t n, float deviation = 1.0f, float mean = 0.0f);

/** [rows, width] on the device in some type, with a row stride and an offset of its own; frees its memory. */
struct Matrix {
    Matrix(int64_t rows, int64_t width, int type, int64_t stride = 0, int64_t offset = 0);
    ~Matrix();
    Matrix(const Matrix&) = delete;

    /** Uploads values; `host` keeps what the type made of them. */
    Matrix& set(const std::vector<float>& values);
    /** All bytes, gaps too, become 0xA5 (a value that no test expects). */
    void poison();
    /** The values, after a check that gaps still hold what poison() or set() left there. */
    std::vector<float> get();
    CUdeviceptr at() const { return base + (CUdeviceptr) (offset * bytes_of(type)); }
    Rows view() const { return {stride, 0, 1, 0}; }

    int64_t rows, width;
    int type;
    int64_t stride, offset;
    CUdeviceptr base;
    size_t bytes;
    std::vector<float> host;
    bool gaps_broken = false;
};

/** Plain device memory with the given contents. */
struct Buffer {
    explicit Buffer(size_t bytes) : bytes(bytes), p(driver->allocate(bytes ? bytes : 16)) {}
    template <class T>
    explicit Buffer(const std::vector<T>& values) : Buffer(values.size() * sizeof(T)) {
        driver->upload(p, values.data(), bytes);
    }
    ~Buffer() { driver->free(p); }
    Buffer(const Buffer&) = delete;
    template <class T>
    std::vector<T> get() {
        std::vector<T> values(bytes / sizeof(T));
        driver->finish();
        driver->download(values.data(), p, bytes);
        return values;
    }
    size_t bytes;
    CUdeviceptr p;
};

// ---- verdicts ------------------------------------------------------------------------------------------------------

struct Verdict {
    int cases = 0;
    int failed = 0;
    double worst = 0;
    std::string worst_case;
};

extern std::map<std::string, Verdict> verdicts;
extern bool small_shapes;

/** Orders of tiles in which products are timed: rows of tiles together. */
extern std::vector<int> product_orders;
/** Seconds of each sustained measurement; 0: none. */
extern double sustained_seconds;

/** A hash of bits, the same for the same results of any form of a kernel. */
struct Digest {
    uint64_t value = 0xcbf29ce484222325u;
    void add(const void* bytes, size_t count);
};

extern std::map<std::string, Digest> digests;

/** Relative L2 of got against expected, at most limit; NaN never passes. */
void expect_near(const std::string& kernel, const std::string& what, const std::vector<float>& got, const std::vector<double>& expected, double limit);
/** Every element has the expected bits (any NaN equals any NaN). */
void expect_equal(const std::string& kernel, const std::string& what, const std::vector<float>& got, const std::vector<float>& expected);
void expect_true(const std::string& kernel, const std::string& what, bool ok, const std::string& got);

/** What one rounding to the type may cost (2^-11 for F16, 2^-8 for BF16) on top of an FP32 computation. */
inline double limit_of(int type, double fp32 = 1e-6) { return fp32 + (type == F32 ? 0 : type == F16 ? 0x1p-11 : 0x1p-8); }

void elementwise_tests();
void norm_tests();
void move_tests();
void collective_tests();
void linear_tests();
void convolution_tests();
void attention_tests();
void product_tests();
void product_speeds();
void attention_speeds();
void speeds();
