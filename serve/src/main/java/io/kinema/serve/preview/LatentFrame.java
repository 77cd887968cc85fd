package io.kinema.serve.preview;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One latent frame.
 *
 * @param channels of a cell
 * @param height   cells
 * @param width    cells
 * @param values   (channels, height, width)
 */
public record LatentFrame(int channels, int height, int width, float[] values) {
    private static final int MOST_VALUES = 1 << 22;

    public LatentFrame {
        if (channels < 1 || height < 1 || width < 1 || values.length != channels * height * width) {
            throw new IllegalArgumentException("latent frame: got " + values.length + " values for (" + channels + ", " + height + ", " + width + ")");
        }
    }

    /** The value of a channel in a cell, cells counted row by row. */
    float at(int channel, int cell) {
        return values[channel * height * width + cell];
    }

    int cells() {
        return height * width;
    }

    /** Reads an FP32 tensor (C, H, W), or the middle frame of one (1, C, T, H, W); empty when there is no such tensor. */
    public static Optional<LatentFrame> read(Path file, String name) {
        try (SafetensorsFile tensors = SafetensorsFile.open(file)) {
            return tensors.find(name).filter(tensor -> tensor.dtype() == DType.F32).flatMap(LatentFrame::middle);
        } catch (BadWeightsException unreadable) {
            return Optional.empty();
        }
    }

    private static Optional<LatentFrame> middle(StoredTensor tensor) {
        long[] dims = tensor.shape().toArray();
        boolean clip = dims.length == 5;
        if (!clip && dims.length != 3) {
            return Optional.empty();
        }
        int channels = (int) dims[clip ? 1 : 0];
        int frames = clip ? (int) dims[2] : 1;
        int height = (int) dims[dims.length - 2];
        int width = (int) dims[dims.length - 1];
        if ((long) channels * height * width > MOST_VALUES || tensor.data().byteSize() > Integer.MAX_VALUE) {
            return Optional.empty();
        }
        FloatBuffer data = tensor.data().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        float[] values = new float[channels * height * width];
        for (int c = 0; c < channels; c++) {
            data.get((c * frames + frames / 2) * height * width, values, c * height * width, height * width);
        }
        return Optional.of(new LatentFrame(channels, height, width, values));
    }
}
