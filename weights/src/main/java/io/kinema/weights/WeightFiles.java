package io.kinema.weights;

import java.nio.file.Path;
import java.util.Map;

/** Opens weights of any format that is understood. What a file is follows from its content, never from its name. */
public final class WeightFiles {
    private WeightFiles() {
    }

    /** The strings in the headers of what {@link #open} gave; empty for another source. */
    public static Map<String, String> metadata(TensorSource source) {
        return switch (source) {
            case Checkpoint checkpoint -> checkpoint.metadata();
            case GgufFile gguf -> gguf.metadata();
            case QuantizedTensors quantized -> quantized.metadata();
            default -> Map.of();
        };
    }

    /**
     * @param folderOrFile a GGUF file, or what {@link Checkpoint#open} takes
     * @return its tensors, each coded matrix under its own name with scales and markers folded in
     * @throws BadWeightsException naming the file and, where there is one, the tensor
     */
    public static TensorSource open(Path folderOrFile) {
        return GgufFile.recognises(folderOrFile) ? GgufFile.open(folderOrFile) : QuantizedTensors.over(Checkpoint.open(folderOrFile));
    }
}
