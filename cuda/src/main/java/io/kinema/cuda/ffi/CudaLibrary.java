package io.kinema.cuda.ffi;

import java.util.List;

/** The native libraries that the CUDA backend calls, with the file names of the versions it knows, best first. */
public enum CudaLibrary {
    DRIVER("CUDA driver", "install NVIDIA's driver", "libcuda.so.1", "libcuda.so"),
    CUBLASLT("cuBLASLt", "install CUDA 12 or 13, or pip install nvidia-cublas", "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"),
    NVRTC("NVRTC", "install CUDA 12 or 13, or pip install nvidia-cuda-nvrtc", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"),
    CUDNN("cuDNN", "install cuDNN 9, or pip install nvidia-cudnn-cu13", "libcudnn.so.9", "libcudnn.so"),
    NCCL("NCCL", "install NCCL 2, or pip install nvidia-nccl-cu13", "libnccl.so.2", "libnccl.so"),
    NVML("NVML", "install NVIDIA's driver", "libnvidia-ml.so.1", "libnvidia-ml.so");

    private final String title;
    private final String advice;
    private final List<String> files;

    CudaLibrary(String title, String advice, String... files) {
        this.title = title;
        this.advice = advice;
        this.files = List.of(files);
    }

    /** What people call it. */
    public String title() {
        return title;
    }

    /** How to get it. */
    public String advice() {
        return advice;
    }

    /** File names, best first. */
    public List<String> files() {
        return files;
    }
}
