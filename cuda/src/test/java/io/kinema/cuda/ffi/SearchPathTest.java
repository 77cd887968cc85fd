package io.kinema.cuda.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SearchPathTest {
    @TempDir
    private Path root;

    @Test
    void findsToolkitsNewestFirstAndThePackagesOfThePythonOnThePath() throws IOException {
        folder("usr/local/cuda-12.8/lib64");
        folder("usr/local/cuda-13.0/lib64");
        Path python = folder("venv/bin").resolve("python3");
        Files.createFile(python);
        folder("venv/lib/python3.12/site-packages/nvidia/cudnn/lib");
        folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib");

        var folders = SearchPath.of(Map.of("PATH", "/nowhere:" + python.getParent())::get, root).folders();

        assertThat(folders.keySet()).containsSubsequence(Path.of(""), at("usr/local/cuda-13.0/lib64"), at("usr/local/cuda-12.8/lib64"),
                at("venv/lib/python3.12/site-packages/nvidia/cu13/lib"), at("venv/lib/python3.12/site-packages/nvidia/cudnn/lib"));
        assertThat(folders.get(at("venv/lib/python3.12/site-packages/nvidia/cudnn/lib"))).contains("Python environment");
    }

    @Test
    void theOwnVariableSwitchesEverythingElseOff() throws IOException {
        folder("usr/local/cuda-13.0/lib64");
        folder("mine/nvidia/cublas/lib");
        folder("mine/lib");

        var folders = SearchPath.of(Map.of(SearchPath.HOME_VARIABLE, at("mine").toString(), "CUDA_HOME", at("usr/local/cuda-13.0").toString())::get, root).folders();

        assertThat(folders.keySet()).containsExactly(at("mine/lib"), at("mine"), at("mine/nvidia/cublas/lib"));
        assertThat(folders.values()).containsOnly(SearchPath.HOME_VARIABLE);
    }

    @Test
    void saysWhatWasLookedForAndWhatToDoWhenNothingIsFound() throws IOException {
        Path broken = folder("mine/lib").resolve("libcublasLt.so.13");
        Files.writeString(broken, "no library");

        LibraryFinder finder = new LibraryFinder(SearchPath.of(Map.of(SearchPath.HOME_VARIABLE, at("mine").toString())::get, root));
        LibraryFinder.Found found = finder.find(CudaLibrary.CUBLASLT);

        assertThat(found.symbols()).isEmpty();
        assertThat(found.failed()).containsExactly(broken.toString());
        assertThat(found.why()).contains("pip install nvidia-cublas").contains(SearchPath.HOME_VARIABLE);
        assertThat(finder.searched()).contains(at("mine/lib") + " (" + SearchPath.HOME_VARIABLE + ")");
        assertThat(finder.find(CudaLibrary.NCCL).why()).as("where it was looked for, and what to do").startsWith("not found in ").contains(at("mine/lib").toString(),
                CudaLibrary.NCCL.advice(), SearchPath.HOME_VARIABLE);
    }

    private Path folder(String name) throws IOException {
        return Files.createDirectories(at(name));
    }

    private Path at(String name) {
        return root.resolve(name);
    }
}
