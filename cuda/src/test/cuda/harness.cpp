#include "harness.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

Driver* driver = nullptr;
std::mt19937 random_engine(20261129);
std::map<std::string, Verdict> verdicts;
bool small_shapes = false;
std::vector<int> product_orders = {2, 4, 8, 16, 32};
double sustained_seconds = 0;
std::map<std::string, Digest> digests;

namespace {

void* library = nullptr;

template <class F>
F symbol(const char* name) {
    void* p = dlsym(library, name);
    if (p == nullptr) {
        std::fprintf(stderr, "no %s in libcuda.so.1\n", name);
        std::exit(1);
    }
    return (F) p;
}

void check(CUresult code, const char* call) {
    if (code != CUDA_SUCCESS) {
        const char* text = "?";
        static auto error = symbol<CUresult (*)(CUresult, const char**)>("cuGetErrorName");
        error(code, &text);
        std::fprintf(stderr, "%s: %s (%d)\n", call, text, (int) code);
        std::exit(1);
    }
}

// The entry points that this program uses, with the suffixes of the current interface.
#define CALL(name, suffix, types, ...)                                      \
    do {                                                                    \
        static auto entry_point = symbol<CUresult(*) types>(#name suffix);  \
        check(entry_point(__VA_ARGS__), #name);                             \
    } while (0)

}  // namespace

Driver::Driver() {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(1);
    }
    CUdevice d;
    CUcontext context;
    char text[256];
    CALL(cuInit, "", (unsigned), 0);
    CALL(cuDeviceGet, "", (CUdevice*, int), &d, 0);
    CALL(cuDeviceGetName, "", (char*, int, CUdevice), text, sizeof text, d);
    CALL(cuDeviceGetAttribute, "", (int*, CUdevice_attribute, CUdevice), &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
    CALL(cuDeviceGetAttribute, "", (int*, CUdevice_attribute, CUdevice), &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
    CALL(cuDeviceGetAttribute, "", (int*, CUdevice_attribute, CUdevice), &processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d);
    CALL(cuDevicePrimaryCtxRetain, "", (CUcontext*, CUdevice), &context, d);
    CALL(cuCtxSetCurrent, "", (CUcontext), context);
    device = text;
}

void Driver::load(const std::string& folder, const std::string& form) {
    int modules = 0;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == "." + form) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        std::vector<char> image((std::istreambuf_iterator<char>(in)), {});
        image.push_back(0);
        CUmodule module;
        CALL(cuModuleLoadData, "", (CUmodule*, const void*), &module, image.data());
        unsigned count = 0;
        CALL(cuModuleGetFunctionCount, "", (unsigned*, CUmodule), &count, module);
        std::vector<CUfunction> all(count);
        CALL(cuModuleEnumerateFunctions, "", (CUfunction*, unsigned, CUmodule), all.data(), count, module);
        for (CUfunction f : all) {
            const char* text = nullptr;
            CALL(cuFuncGetName, "", (const char**, CUfunction), &text, f);
            functions[text] = f;
        }
        modules++;
    }
    if (modules == 0) {
        std::fprintf(stderr, "no .%s in %s\n", form.c_str(), folder.c_str());
        std::exit(1);
    }
}

CUfunction Driver::function(const std::string& name) const {
    auto it = functions.find(name);
    if (it == functions.end()) {
        std::fprintf(stderr, "no kernel %s\n", name.c_str());
        std::exit(1);
    }
    return it->second;
}

Resources Driver::resources(CUfunction f) const {
    Resources r;
    CALL(cuFuncGetAttribute, "", (int*, CUfunction_attribute, CUfunction), &r.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
    CALL(cuFuncGetAttribute, "", (int*, CUfunction_attribute, CUfunction), &r.shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
    CALL(cuFuncGetAttribute, "", (int*, CUfunction_attribute, CUfunction), &r.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
    return r;
}

CUdeviceptr Driver::allocate(size_t bytes) {
    CUdeviceptr p = 0;
    CALL(cuMemAlloc, "_v2", (CUdeviceptr*, size_t), &p, bytes);
    return p;
}

void Driver::free(CUdeviceptr p) { CALL(cuMemFree, "_v2", (CUdeviceptr), p); }

void Driver::upload(CUdeviceptr to, const void* from, size_t bytes) {
    if (bytes > 0) {
        CALL(cuMemcpyHtoD, "_v2", (CUdeviceptr, const void*, size_t), to, from, bytes);
    }
}

void Driver::download(void* to, CUdeviceptr from, size_t bytes) {
    if (bytes > 0) {
        CALL(cuMemcpyDtoH, "_v2", (void*, CUdeviceptr, size_t), to, from, bytes);
    }
}

void Driver::fill(CUdeviceptr to, unsigned char byte, size_t bytes) { CALL(cuMemsetD8, "_v2", (CUdeviceptr, unsigned char, size_t), to, byte, bytes); }

void Driver::finish() { CALL(cuCtxSynchronize, "", (), ); }

void Digest::add(const void* bytes, size_t count) {
    const char* p = (const char*) bytes;
    for (size_t i = 0; i < count; i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, p + i, std::min<size_t>(8, count - i));
        value = (value ^ word) * 0x100000001b3u;
        value ^= value >> 29;
    }
}

CUtensorMap Driver::map(const HeadsAt& h, int box_rows) {
    CUtensorMap m;
    cuuint64_t sizes[] = {(cuuint64_t) h.channels, (cuuint64_t) h.heads, (cuuint64_t) h.rows};
    cuuint64_t strides[] = {(cuuint64_t) h.head_stride * bytes_of(h.type), (cuuint64_t) h.row_stride * bytes_of(h.type)};
    cuuint32_t box[] = {64, 1, (cuuint32_t) box_rows};
    cuuint32_t steps[] = {1, 1, 1};
    CALL(cuTensorMapEncodeTiled, "",
         (CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
          CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill),
         &m, h.type == F16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void*) h.at, sizes, strides, box, steps,
         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return m;
}

CUtensorMap Driver::map(CUdeviceptr at, int type, int64_t rows, int64_t columns, int64_t stride, int boxRows) {
    CUtensorMap m;
    cuuint64_t sizes[] = {(cuuint64_t) columns, (cuuint64_t) rows};
    cuuint64_t strides[] = {(cuuint64_t) stride * bytes_of(type)};
    cuuint32_t box[] = {128u / bytes_of(type), (cuuint32_t) boxRows};
    cuuint32_t steps[] = {1, 1};
    CALL(cuTensorMapEncodeTiled, "",
         (CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
          CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill),
         &m, type == F32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : type == F16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void*) at, sizes, strides, box, steps,
         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return m;
}

int Driver::clusters(const std::string& kernel, int blocks, unsigned threads, unsigned shared) const {
    CUfunction f = function(kernel);
    CALL(cuFuncSetAttribute, "", (CUfunction, CUfunction_attribute, int), f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int) shared);
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {(unsigned) blocks, 1, 1};
    CUlaunchConfig config{};
    config.gridDimX = (unsigned) blocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = threads;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    CALL(cuOccupancyMaxActiveClusters, "", (int*, CUfunction, const CUlaunchConfig*), &clusters, f, &config);
    return clusters;
}

double Driver::time(const std::function<void()>& run, int runs) {
    CUevent begin, end;
    CALL(cuEventCreate, "", (CUevent*, unsigned), &begin, 0);
    CALL(cuEventCreate, "", (CUevent*, unsigned), &end, 0);
    run();
    finish();
    std::vector<double> times;
    for (int i = 0; i < runs; i++) {
        float ms = 0;
        CALL(cuEventRecord, "", (CUevent, CUstream), begin, nullptr);
        run();
        CALL(cuEventRecord, "", (CUevent, CUstream), end, nullptr);
        finish();
        CALL(cuEventElapsedTime, "", (float*, CUevent, CUevent), &ms, begin, end);
        times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

double Driver::sustained(const std::function<void()>& run, double seconds) {
    double each = time(run, 3);
    int half = std::max(1, (int) (seconds * 500 / each));
    CUevent begin, end;
    float ms = 0;
    CALL(cuEventCreate, "", (CUevent*, unsigned), &begin, 0);
    CALL(cuEventCreate, "", (CUevent*, unsigned), &end, 0);
    for (int i = 0; i < half; i++) {
        run();
    }
    CALL(cuEventRecord, "", (CUevent, CUstream), begin, nullptr);
    for (int i = 0; i < half; i++) {
        run();
    }
    CALL(cuEventRecord, "", (CUevent, CUstream), end, nullptr);
    finish();
    CALL(cuEventElapsedTime, "", (float*, CUevent, CUevent), &ms, begin, end);
    return ms / half;
}

void launch_packed(const std::string& name, Dim grid, Dim block, unsigned shared, const Arguments& arguments) {
    CUfunction f = driver->function(name);
    if (shared > 48 * 1024) {
        CALL(cuFuncSetAttribute, "", (CUfunction, CUfunction_attribute, int), f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int) shared);
    }
    std::vector<void*> parameters;
    for (size_t place : arguments.places) {
        parameters.push_back((void*) (arguments.bytes.data() + place));
    }
    static auto launchKernel =
            symbol<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**)>("cuLaunchKernel");
    check(launchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, nullptr, parameters.data(), nullptr), name.c_str());
}

std::vector<float> normal(size_t n, float deviation, float mean) {
    std::normal_distribution<float> draw(mean, deviation);
    std::vector<float> values(n);
    for (float& v : values) {
        v = draw(random_engine);
    }
    return values;
}

Matrix::Matrix(int64_t rows, int64_t width, int type, int64_t stride, int64_t offset)
        : rows(rows), width(width), type(type), stride(stride == 0 ? width : stride), offset(offset) {
    bytes = (size_t) (offset + (rows - 1) * this->stride + width) * bytes_of(type);
    base = driver->allocate(bytes);
    poison();
}

Matrix::~Matrix() { driver->free(base); }

void Matrix::poison() { driver->fill(base, 0xA5, bytes); }

Matrix& Matrix::set(const std::vector<float>& values) {
    std::vector<unsigned char> image(bytes, 0xA5);
    host.resize(rows * width);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < width; c++) {
            float v = values[r * width + c];
            unsigned char* to = image.data() + (offset + r * stride + c) * bytes_of(type);
            if (type == F32) {
                std::memcpy(to, &v, 4);
            } else if (type == F64) {
                double d = v;
                std::memcpy(to, &d, 8);
            } else {
                uint16_t h = to_half(v, type);
                std::memcpy(to, &h, 2);
            }
            host[r * width + c] = rounded(v, type);
        }
    }
    driver->upload(base, image.data(), bytes);
    return *this;
}

std::vector<float> Matrix::get() {
    driver->finish();
    std::vector<unsigned char> image(bytes);
    driver->download(image.data(), base, bytes);
    std::vector<float> values(rows * width);
    std::vector<bool> inside(bytes, false);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < width; c++) {
            size_t at = (offset + r * stride + c) * bytes_of(type);
            std::fill_n(inside.begin() + at, bytes_of(type), true);
            if (type == F32) {
                std::memcpy(&values[r * width + c], &image[at], 4);
            } else if (type == F64) {
                double d;
                std::memcpy(&d, &image[at], 8);
                values[r * width + c] = (float) d;
            } else {
                uint16_t h;
                std::memcpy(&h, &image[at], 2);
                values[r * width + c] = from_half(h, type);
            }
        }
    }
    for (size_t i = 0; i < bytes; i++) {
        gaps_broken = gaps_broken || (!inside[i] && image[i] != 0xA5);
    }
    if (gaps_broken) {
        values.assign(values.size(), NAN);
        std::fprintf(stderr, "written outside the view\n");
    }
    return values;
}

static void record(const std::string& kernel, const std::string& what, bool ok, double error, const std::string& text) {
    Verdict& v = verdicts[kernel];
    v.cases++;
    if (!ok) {
        v.failed++;
        if (v.failed <= 3) {
            std::printf("FAILED %s, %s: %s\n", kernel.c_str(), what.c_str(), text.c_str());
        }
    }
    if (error >= v.worst || error != error) {
        v.worst = error;
        v.worst_case = what;
    }
}

void expect_near(const std::string& kernel, const std::string& what, const std::vector<float>& got, const std::vector<double>& expected, double limit) {
    double difference = 0;
    double norm = 0;
    size_t worst = 0;
    double largest = -1;
    for (size_t i = 0; i < expected.size(); i++) {
        double d = got[i] - expected[i];
        difference += d * d;
        norm += expected[i] * expected[i];
        if (std::fabs(d) > largest || d != d) {
            largest = std::fabs(d);
            worst = i;
        }
    }
    double error = std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
    char text[256];
    std::snprintf(text, sizeof text, "relative L2 %.3g, limit %.3g; element %zu got %g, expected %g", error, limit, worst, got[worst], expected[worst]);
    record(kernel, what, error <= limit, error, text);
}

void expect_equal(const std::string& kernel, const std::string& what, const std::vector<float>& got, const std::vector<float>& expected) {
    size_t wrong = 0;
    size_t first = 0;
    for (size_t i = 0; i < expected.size(); i++) {
        bool same = float_bits(got[i]) == float_bits(expected[i]) || (got[i] != got[i] && expected[i] != expected[i]);
        if (!same && wrong++ == 0) {
            first = i;
        }
    }
    char text[256];
    std::snprintf(text, sizeof text, "%zu of %zu differ; element %zu got %.9g, expected %.9g", wrong, expected.size(), first, got[first], expected[first]);
    record(kernel, what, wrong == 0, (double) wrong, text);
}

void expect_true(const std::string& kernel, const std::string& what, bool ok, const std::string& got) { record(kernel, what, ok, ok ? 0 : 1, got); }
