package io.kinema.cuda.driver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** The most threads of a block that kernels were compiled for, from the manifest: a driver refuses to launch them with more. */
public final class KernelBounds {
    private static final String MANIFEST = "/io/kinema/cuda/kernels/manifest.json";
    private static final Map<String, Integer> MOST = read();

    private KernelBounds() {
    }

    /** Of a kernel, on the architecture that takes fewest; any number where the manifest does not know it. */
    public static int mostThreads(String kernel) {
        return MOST.getOrDefault(kernel, Integer.MAX_VALUE);
    }

    /** The kernels that the manifest knows. */
    public static Map<String, Integer> all() {
        return MOST;
    }

    private static Map<String, Integer> read() {
        try (InputStream in = KernelBounds.class.getResourceAsStream(MANIFEST)) {
            JsonNode kernels = new ObjectMapper().readTree(in).path("kernels");
            return StreamSupport.stream(kernels.spliterator(), false)
                    .collect(Collectors.toUnmodifiableMap(k -> k.path("kernel").asText(), k -> k.path("maxThreads").asInt(), Math::min));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
