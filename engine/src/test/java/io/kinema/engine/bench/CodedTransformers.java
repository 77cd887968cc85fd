package io.kinema.engine.bench;

import io.kinema.engine.Geometries;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerFile;
import io.kinema.model.dit.DitConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Writes the bundled transformer in every coded form into a folder, for tables that compare them. A program, not a test. */
public final class CodedTransformers {
    private CodedTransformers() {
    }

    /** Argument: the folder. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        NetworkFolder own = ModelFolder.open(Geometries.NANO).network(Component.TRANSFORMER);
        TransformerFile file = TransformerFile.of(own.folder(), DitConfig.read(own.config()).ropeFrequencies());
        file.float8(folder.resolve("h3_nano_fl2va_fp8_scaled.safetensors"), false);
        file.float8(folder.resolve("h3_nano_fl2va_fp8_rows.safetensors"), true);
        file.gguf(folder.resolve("h3_nano_fl2va_q8_0.gguf"), false, TransformerFile::matrixOfABlock);
        file.gguf(folder.resolve("h3_nano_fl2va_q4_k.gguf"), true, TransformerFile::matrixOfABlock);
        for (int group : new int[] {4, 256}) {
            Quantizer.quantize(Geometries.NANO, folder.resolve("h3_nano_fl2va_int8_convrot" + group + ".safetensors"),
                    new QuantizeOptions(group, true, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        }
    }
}
