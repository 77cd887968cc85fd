package io.kinema.measure.bench;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.Stage;
import io.kinema.engine.record.StageTime;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.RgbImage;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One clip of the bundled model with what it cost, made in a process of its own so that peak memory is its own.
 *
 * @param denoise seconds of the denoising stage, the first request's: weights are read and code is compiled in it
 * @param peak    of the process's resident memory, bytes
 */
record MadeClip(float[] video, float[] audio, List<RgbImage> frames, Sound sound, double denoise, double seconds, long peak) {

    /**
     * How to make it.
     *
     * @param transformer file used in place of the model's own, empty for none
     */
    record Recipe(Precision precision, MatrixLayout layout, String transformer, int frames, int size, int steps) {
        List<String> arguments() {
            return List.of(precision.label(), layout.label(), transformer, "" + frames, "" + size, "" + steps);
        }

        static Recipe of(List<String> arguments) {
            return new Recipe(Precision.labelled(arguments.get(0)).orElseThrow(), MatrixLayout.labelled(arguments.get(1)).orElseThrow(), arguments.get(2),
                    Integer.parseInt(arguments.get(3)), Integer.parseInt(arguments.get(4)), Integer.parseInt(arguments.get(5)));
        }
    }

    /** What a child process runs: makes the clip and leaves it in the file that the first argument names. */
    public static void main(String[] arguments) throws IOException {
        make(Recipe.of(List.of(arguments).subList(1, arguments.length)), Path.of(arguments[0]));
    }

    /** Makes a clip in a new process of this class path. */
    static MadeClip inOwnProcess(Recipe recipe) throws IOException, InterruptedException {
        Path file = Files.createTempFile("clip", ".bin");
        try {
            List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Dkinema.root=" + System.getProperty("kinema.root", "."),
                    "-cp", System.getProperty("java.class.path"), MadeClip.class.getName(), file.toString()));
            command.addAll(recipe.arguments());
            int exit = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (exit != 0) {
                throw new IOException(recipe + ": the process ended with " + exit);
            }
            return read(file);
        } finally {
            Files.delete(file);
        }
    }

    private static void make(Recipe recipe, Path file) throws IOException {
        EngineOptions.Builder options = EngineOptions.builder().precision(recipe.precision());
        if (recipe.layout() == MatrixLayout.COLUMN) {
            options.fp16WeightLayout(recipe.layout());
        }
        if (!recipe.transformer().isEmpty()) {
            options.transformer(Path.of(recipe.transformer()));
        }
        try (H3Engine engine = H3Engine.open(options.build());
             DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            Clip clip = engine.generate(GenerateRequest.prompt("A red circle bounces from left to right across a blue background.")
                    .width(recipe.size()).height(recipe.size()).frames(recipe.frames()).steps(recipe.steps()).seed(1).build());
            floats(out, clip.latents().video());
            floats(out, clip.latents().audio());
            out.writeInt(clip.frameCount());
            out.writeInt(clip.width());
            out.writeInt(clip.height());
            for (int i = 0; i < clip.frameCount(); i++) {
                out.write(clip.frame(i));
            }
            out.writeInt(clip.sampleRate());
            floats(out, clip.left());
            floats(out, clip.right());
            out.writeDouble(clip.record().stages().stream().filter(s -> s.stage() == Stage.DENOISING).mapToDouble(StageTime::seconds).sum());
            out.writeDouble(clip.record().seconds());
            out.writeLong(clip.record().memory().peakResidentBytes());
        }
    }

    private static MadeClip read(Path file) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            float[] video = floats(in);
            float[] audio = floats(in);
            List<RgbImage> frames = new ArrayList<>();
            int count = in.readInt();
            int width = in.readInt();
            int height = in.readInt();
            for (int i = 0; i < count; i++) {
                frames.add(new RgbImage(width, height, in.readNBytes(width * height * RgbImage.CHANNELS)));
            }
            Sound sound = new Sound(in.readInt(), new float[][] {floats(in), floats(in)});
            return new MadeClip(video, audio, frames, sound, in.readDouble(), in.readDouble(), in.readLong());
        }
    }

    private static void floats(DataOutputStream out, float[] values) throws IOException {
        out.writeInt(values.length);
        for (float value : values) {
            out.writeFloat(value);
        }
    }

    private static float[] floats(DataInputStream in) throws IOException {
        float[] values = new float[in.readInt()];
        for (int i = 0; i < values.length; i++) {
            values[i] = in.readFloat();
        }
        return values;
    }
}
