package io.kinema.weights;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Element types of GGUF files, by the numbers that the format gives them. A type codes {@code blockElements} consecutive values
 * of a row in {@code blockBytes} bytes; the sizes of all types are known, so that a file can be listed, and some can be read.
 */
enum GgufType {
    F32(0, 1, 4), F16(1, 1, 2), Q4_0(2, 32, 18), Q4_1(3, 32, 20), Q5_0(6, 32, 22), Q5_1(7, 32, 24), Q8_0(8, 32, 34), Q8_1(9, 32, 40),
    Q2_K(10, 256, 84), Q3_K(11, 256, 110), Q4_K(12, 256, 144), Q5_K(13, 256, 176), Q6_K(14, 256, 210), Q8_K(15, 256, 292),
    IQ2_XXS(16, 256, 66), IQ2_XS(17, 256, 74), IQ3_XXS(18, 256, 98), IQ1_S(19, 256, 50), IQ4_NL(20, 32, 18), IQ3_S(21, 256, 110),
    IQ2_S(22, 256, 82), IQ4_XS(23, 256, 136), I8(24, 1, 1), I16(25, 1, 2), I32(26, 1, 4), I64(27, 1, 8), F64(28, 1, 8), IQ1_M(29, 256, 56),
    BF16(30, 1, 2), TQ1_0(34, 256, 54), TQ2_0(35, 256, 66), MXFP4(39, 32, 17), NVFP4(40, 64, 36), Q1_0(41, 128, 18);

    private final int id;
    private final int blockElements;
    private final int blockBytes;

    GgufType(int id, int blockElements, int blockBytes) {
        this.id = id;
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    /** The type with this number, or empty. */
    static Optional<GgufType> of(int id) {
        return Arrays.stream(values()).filter(t -> t.id == id).findFirst();
    }

    /** The types that can be read. */
    static List<GgufType> readable() {
        return Arrays.stream(values()).filter(t -> t.plain().isPresent() || t.code().isPresent()).toList();
    }

    int blockElements() {
        return blockElements;
    }

    int blockBytes() {
        return blockBytes;
    }

    /** The same type among plain element types, or empty for blocks. */
    Optional<DType> plain() {
        return blockElements == 1 ? DType.named(name()) : Optional.empty();
    }

    /** How to decode its blocks, or empty where that is not known here. */
    Optional<BlockCode> code() {
        return switch (this) {
            case Q4_0 -> Optional.of(BlockCode.Q4_0);
            case Q5_0 -> Optional.of(BlockCode.Q5_0);
            case Q8_0 -> Optional.of(BlockCode.Q8_0);
            case Q4_K -> Optional.of(BlockCode.Q4_K);
            case Q5_K -> Optional.of(BlockCode.Q5_K);
            case Q6_K -> Optional.of(BlockCode.Q6_K);
            default -> Optional.empty();
        };
    }
}
