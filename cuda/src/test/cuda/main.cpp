// Tests every kernel against plain loops in FP64, and times the ones that matter.
//   kernel_tests FOLDER cubin|ptx [--small] [--speed [--sustained SECONDS] [--orders N,N,..]] [--resources] [--group NAME]
#include "harness.hpp"

#include <cstdlib>
#include <sstream>

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: kernel_tests FOLDER cubin|ptx [--small] [--speed [--sustained SECONDS] [--orders N,N,..]] [--resources] [--group NAME]\n");
        return 2;
    }
    bool timed = false;
    bool listed = false;
    std::string group;
    for (int i = 3; i < argc; i++) {
        std::string option = argv[i];
        small_shapes = small_shapes || option == "--small";
        timed = timed || option == "--speed";
        listed = listed || option == "--resources";
        if (option == "--group" && i + 1 < argc) {
            group = argv[++i];
        }
        if (option == "--sustained" && i + 1 < argc) {
            sustained_seconds = std::atof(argv[++i]);
        }
        if (option == "--orders" && i + 1 < argc) {
            product_orders.clear();
            for (std::istringstream list(argv[++i]); list; list.ignore(1)) {
                int order = 0;
                if (list >> order && order > 0) {
                    product_orders.push_back(order);
                }
            }
        }
    }
    Driver d;
    driver = &d;
    d.load(argv[1], argv[2]);
    std::printf("%s, compute capability %d.%d; %s %s, %zu kernels\n", d.device.c_str(), d.major, d.minor, argv[1], argv[2], d.functions.size());
    if (listed) {
        for (const auto& [kernel, f] : d.functions) {
            Resources r = d.resources(f);
            std::printf("%-45s %3d registers %6d shared %5d local bytes\n", kernel.c_str(), r.registers, r.shared_bytes, r.local_bytes);
        }
        return 0;
    }
    if (timed) {
        if (group == "products") {
            product_speeds();
        } else if (group == "attention") {
            attention_speeds();
        } else {
            speeds();
        }
        return 0;
    }
    struct Group {
        const char* name;
        void (*run)();
    };
    for (Group g : {Group{"elementwise", elementwise_tests}, {"norms", norm_tests}, {"moves", move_tests}, {"linear", linear_tests},
                    {"convolution", convolution_tests}, {"collective", collective_tests}, {"attention", attention_tests},
                    {"products", product_tests}}) {
        if (group.empty() || group == g.name) {
            g.run();
        }
    }
    d.finish();
    int cases = 0;
    int failed = 0;
    for (const auto& [kernel, v] : verdicts) {
        std::printf("%-40s %4d cases %3d failed  worst %.3g (%s)\n", kernel.c_str(), v.cases, v.failed, v.worst, v.worst_case.c_str());
        cases += v.cases;
        failed += v.failed;
    }
    for (const auto& [kernel, f] : d.functions) {
        if (group.empty() && verdicts.count(kernel) == 0) {
            std::printf("NOT TESTED %s\n", kernel.c_str());
            failed++;
        }
    }
    for (const auto& [kernel, digest] : digests) {
        std::printf("bits of %-40s %016llx\n", kernel.c_str(), (unsigned long long) digest.value);
    }
    std::printf("%d cases, %d failed\n", cases, failed);
    return failed == 0 ? 0 : 1;
}
