package io.kinema.cuda.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds and loads libraries. What it loads stays loaded for the life of the process: unloading CUDA libraries is not safe.
 */
public final class LibraryFinder {
    private static final int SHOWN = 3;

    private final Map<Path, String> folders;

    public LibraryFinder(SearchPath path) {
        this.folders = path.folders();
    }

    /** A finder over the places of this process. */
    public static LibraryFinder ofEnvironment() {
        return new LibraryFinder(SearchPath.ofEnvironment());
    }

    /** The first file in search order that loads, and everything that was looked at before it. */
    public Found find(CudaLibrary library) {
        List<String> tried = new ArrayList<>();
        for (Map.Entry<Path, String> folder : folders.entrySet()) {
            for (String file : library.files()) {
                boolean loader = folder.getKey().toString().isEmpty();
                Path candidate = folder.getKey().resolve(file);
                if (loader || Files.exists(candidate)) {
                    Optional<SymbolLookup> loaded = load(candidate, tried);
                    if (loaded.isPresent()) {
                        return new Found(library, loaded, candidate.toString(), "found in " + folder.getValue(), List.copyOf(tried));
                    }
                }
            }
        }
        return new Found(library, Optional.empty(), "", "not found in " + places() + "; " + library.advice() + ", or set " + SearchPath.HOME_VARIABLE
                + " to the folder that holds it", List.copyOf(tried));
    }

    /** The first few of them: there may be dozens. */
    private String places() {
        List<String> all = folders.keySet().stream().map(folder -> folder.toString().isEmpty() ? "the loader's path" : folder.toString()).toList();
        int more = all.size() - SHOWN;
        return all.isEmpty() ? "any folder" : String.join(", ", all.subList(0, Math.min(SHOWN, all.size()))) + (more <= 0 ? "" : " and " + more + " more, which kinema doctor lists");
    }

    private static Optional<SymbolLookup> load(Path candidate, List<String> tried) {
        try {
            return Optional.of(candidate.isAbsolute() ? SymbolLookup.libraryLookup(candidate, Arena.global())
                    : SymbolLookup.libraryLookup(candidate.toString(), Arena.global()));
        } catch (IllegalArgumentException unloadable) {
            tried.add(candidate.toString());
            return Optional.empty();
        }
    }

    /** Where libraries were looked for, in order. */
    public List<String> searched() {
        return folders.entrySet().stream().map(f -> (f.getKey().toString().isEmpty() ? "(loader)" : f.getKey()) + " (" + f.getValue() + ")").toList();
    }

    /**
     * The outcome of one search.
     *
     * @param symbols empty when the library was not found
     * @param file    what was loaded, a bare name when the loader found it
     * @param why     the reason of the choice, or what to do
     * @param failed  files that exist or were asked for but did not load
     */
    public record Found(CudaLibrary library, Optional<SymbolLookup> symbols, String file, String why, List<String> failed) {
        /** The symbols. @throws CudaUnavailableException when the library was not found */
        public SymbolLookup require() {
            return symbols.orElseThrow(() -> new CudaUnavailableException(library.title() + " (" + library.files().getFirst() + ") " + why));
        }
    }
}
