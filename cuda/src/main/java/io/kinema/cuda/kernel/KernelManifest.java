package io.kinema.cuda.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * Which kernel images ship with this build, read from {@code manifest.json} beside them.
 *
 * @param images in the order of the manifest
 */
public record KernelManifest(List<Image> images) {
    private static final String FOLDER = "/io/kinema/cuda/kernels/";
    private static final int VOLTA = 70;
    private static final int AMPERE = 80;
    private static final int HOPPER = 90;

    /**
     * @param file   name below the folder of the manifest
     * @param target what it was compiled for: {@code sm_70}, {@code sm_80}, {@code sm_90a}
     * @param ptx    text that the driver compiles when it is loaded, instead of machine code
     * @param sha256 of the contents
     */
    public record Image(String file, String target, boolean ptx, String sha256) {
        /** The contents. */
        public byte[] bytes() {
            try (InputStream in = new GZIPInputStream(open(file + ".gz"))) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException("kernel image " + file + " is damaged: " + e.getMessage() + "; build Kinema again", e);
            }
        }
    }

    /** What is loaded for a GPU: machine code, or PTX that its driver compiles. */
    public record Choice(String target, boolean ptx) {
        @Override
        public String toString() {
            return target + (ptx ? " (PTX)" : "");
        }
    }

    /** The manifest of this build. */
    public static KernelManifest read() {
        try (InputStream in = open("manifest.json")) {
            return parse(in.readAllBytes());
        } catch (IOException e) {
            throw new IllegalStateException("kernel manifest cannot be read: " + e.getMessage(), e);
        }
    }

    static KernelManifest parse(byte[] json) {
        try {
            List<Image> images = new ArrayList<>();
            for (JsonNode binary : new ObjectMapper().readTree(json).path("binaries")) {
                String file = binary.path("file").asText();
                images.add(new Image(file, file.substring(0, file.indexOf('/')), file.endsWith(".ptx"), binary.path("sha256").asText()));
            }
            return new KernelManifest(List.copyOf(images));
        } catch (IOException | IndexOutOfBoundsException e) {
            throw new IllegalStateException("kernel manifest is damaged: " + e.getMessage() + "; build Kinema again", e);
        }
    }

    /**
     * What runs on a GPU.
     *
     * @param gpu    compute capability such as 90
     * @param wanted compute capability whose kernels to use, at most the GPU's: 70 means the PTX for the V100 on any GPU
     */
    public static Choice choose(int gpu, int wanted) {
        if (Math.min(gpu, wanted) < AMPERE) {
            return new Choice("sm_70", true);
        }
        if (gpu / 10 == HOPPER / 10 && wanted >= HOPPER) {
            return new Choice("sm_90a", false);
        }
        return new Choice("sm_80", gpu / 10 != AMPERE / 10);
    }

    /** True when there are kernels for a GPU of this compute capability. */
    public static boolean serves(int gpu) {
        return gpu >= VOLTA;
    }

    /** The images of a choice. */
    public List<Image> of(Choice choice) {
        return images.stream().filter(i -> i.target().equals(choice.target()) && i.ptx() == choice.ptx()).toList();
    }

    private static InputStream open(String name) throws IOException {
        InputStream in = KernelManifest.class.getResourceAsStream(FOLDER + name);
        if (in == null) {
            throw new IOException(name + " is not in this build; run scripts/kernels and build Kinema again");
        }
        return in;
    }
}
