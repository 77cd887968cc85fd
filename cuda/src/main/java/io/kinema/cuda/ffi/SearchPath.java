package io.kinema.cuda.ffi;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Folders that may hold CUDA libraries, in the order in which they are looked at, each with the reason why it is there:
 * {@code KINEMA_CUDA_HOME} alone when it is set, else {@code CUDA_HOME} and {@code CUDA_PATH}, the loader's own path (an
 * empty folder name), the driver's folders, {@code /usr/local/cuda*}, and the {@code nvidia} folders of Python environments.
 */
public final class SearchPath {
    /** Names the folder that holds everything, and switches all other places off. */
    public static final String HOME_VARIABLE = "KINEMA_CUDA_HOME";

    private static final List<String> DRIVER_FOLDERS = List.of("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib",
            "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib");
    private static final Path LOADER = Path.of("");

    private final Map<Path, String> folders = new LinkedHashMap<>();

    private SearchPath() {
    }

    /** The places of this process. */
    public static SearchPath ofEnvironment() {
        return of(name -> System.getenv(name), Path.of("/"));
    }

    /**
     * @param environment variables by name, null for those not set
     * @param root        of the file system, another one for tests
     */
    public static SearchPath of(UnaryOperator<String> environment, Path root) {
        SearchPath path = new SearchPath();
        String home = environment.apply(HOME_VARIABLE);
        if (home != null && !home.isBlank()) {
            path.toolkit(Path.of(home), HOME_VARIABLE);
            path.driverFolders(root);
            return path;
        }
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String value = environment.apply(variable);
            if (value != null && !value.isBlank()) {
                path.toolkit(Path.of(value), variable);
            }
        }
        path.folders.putIfAbsent(LOADER, "the loader's path");
        path.driverFolders(root);
        path.systemToolkits(root);
        path.pythonEnvironments(environment, root);
        return path;
    }

    /** Folder to reason; the empty path stands for the loader's own search. */
    public Map<Path, String> folders() {
        return new LinkedHashMap<>(folders);
    }

    private void driverFolders(Path root) {
        for (String folder : DRIVER_FOLDERS) {
            add(root.resolve(folder.substring(1)), "the driver's folder");
        }
    }

    private void systemToolkits(Path root) {
        List<Path> versions = new ArrayList<>(matching(root.resolve("usr/local"), "cuda*"));
        versions.sort(Comparator.comparing((Path p) -> p.getFileName().toString()).reversed());
        versions.forEach(v -> toolkit(v, "the system's CUDA"));
    }

    /** A CUDA toolkit, or a folder of pip packages, or simply the folder with the files. */
    private void toolkit(Path home, String why) {
        for (String inside : List.of("lib64", "lib", "targets/x86_64-linux/lib", "")) {
            add(home.resolve(inside), why);
        }
        packages(home, why);
        packages(home.resolve("nvidia"), why);
    }

    private void pythonEnvironments(UnaryOperator<String> environment, Path root) {
        Set<Path> prefixes = new LinkedHashSet<>();
        String virtual = environment.apply("VIRTUAL_ENV");
        if (virtual != null && !virtual.isBlank()) {
            prefixes.add(Path.of(virtual));
        }
        String path = environment.apply("PATH");
        for (String bin : path == null ? new String[0] : path.split(":")) {
            Path python = Path.of(bin.isEmpty() ? "." : bin).resolve("python3");
            if (Files.exists(python)) {
                prefixes.add(python.toAbsolutePath().getParent().getParent());
                resolved(python).ifPresent(p -> prefixes.add(p.getParent().getParent()));
            }
        }
        prefixes.add(root.resolve("opt/conda"));
        for (Path prefix : prefixes) {
            for (Path version : matching(prefix.resolve("lib"), "python3*")) {
                packages(version.resolve("site-packages/nvidia"), "the Python environment " + prefix);
                packages(version.resolve("dist-packages/nvidia"), "the Python environment " + prefix);
            }
        }
    }

    private static Optional<Path> resolved(Path python) {
        try {
            return Optional.of(python.toRealPath());
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    /** {@code nvidia/<package>/lib} for every package. */
    private void packages(Path nvidia, String why) {
        matching(nvidia, "*").stream().sorted().forEach(p -> add(p.resolve("lib"), why));
    }

    private void add(Path folder, String why) {
        if (Files.isDirectory(folder)) {
            folders.putIfAbsent(folder.normalize(), why);
        }
    }

    private static List<Path> matching(Path folder, String glob) {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
                entries.forEach(found::add);
            } catch (IOException unreadable) {
                return List.of();
            }
        }
        return found;
    }
}
