package io.kinema.cuda.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which kernel images ship with this build, read from {@code manifest.json} beside them.
 *
 * @param images in the order of the manifest
 */
public record KernelManifest(List<Image> images) {
    private static final String FOLDER = "/io/kinema/cuda/kernels/";

    /**
     * @param file         name beside the manifest
     * @param source       the source file it was compiled from
     * @param architecture compute capability it was compiled for: 70, 80, 90
     * @param ptx          text that the driver compiles when it is loaded, instead of machine code
     * @param kernels      the functions in it
     */
    public record Image(String file, String source, int architecture, boolean ptx, List<String> kernels) {
        /** The whole file. */
        public byte[] bytes() {
            return resource(file);
        }
    }

    /** The manifest of this build. */
    public static KernelManifest read() {
        return parse(resource("manifest.json"));
    }

    static KernelManifest parse(byte[] json) {
        try {
            List<Image> images = new ArrayList<>();
            for (JsonNode image : new ObjectMapper().readTree(json).path("images")) {
                List<String> kernels = new ArrayList<>();
                image.path("kernels").forEach(k -> kernels.add(k.path("name").asText()));
                images.add(new Image(image.path("file").asText(), image.path("source").asText(), image.path("architecture").asInt(),
                        image.path("format").asText().equals("ptx"), kernels));
            }
            return new KernelManifest(images);
        } catch (IOException e) {
            throw new IllegalStateException("kernel manifest is damaged: " + e.getMessage() + "; build Kinema again", e);
        }
    }

    /**
     * The architecture whose images run best on a GPU: the newest not newer than it.
     *
     * @param gpu compute capability such as 90
     * @return empty for a GPU older than all images
     */
    public Optional<Integer> best(int gpu) {
        return images.stream().map(Image::architecture).filter(a -> a <= gpu).max(Integer::compare);
    }

    /** The images for exactly this architecture. */
    public List<Image> forArchitecture(int architecture) {
        return images.stream().filter(i -> i.architecture() == architecture).toList();
    }

    private static byte[] resource(String name) {
        try (InputStream in = KernelManifest.class.getResourceAsStream(FOLDER + name)) {
            if (in == null) {
                throw new IllegalStateException("kernel image " + name + " is not in this build; run scripts/kernels and build Kinema again");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("kernel image " + name + " cannot be read: " + e.getMessage(), e);
        }
    }
}
