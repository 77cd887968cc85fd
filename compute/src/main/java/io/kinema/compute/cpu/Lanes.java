package io.kinema.compute.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/** The vector width of this process, fixed when the class is loaded so that it is a constant to the compiler. */
final class Lanes {
    /** Test hook: vectors of this many bits instead of the machine's preferred width. */
    static final String BITS_PROPERTY = "kinema.vectorBits";

    static final VectorSpecies<Float> F32 = chosen();
    static final VectorSpecies<Integer> I32 = VectorSpecies.of(int.class, F32.vectorShape());
    static final int COUNT = F32.length();

    private Lanes() {
    }

    private static VectorSpecies<Float> chosen() {
        int bits = Integer.getInteger(BITS_PROPERTY, 0);
        return switch (bits) {
            case 0 -> FloatVector.SPECIES_PREFERRED;
            case 64 -> FloatVector.SPECIES_64;
            case 128 -> FloatVector.SPECIES_128;
            case 256 -> FloatVector.SPECIES_256;
            case 512 -> FloatVector.SPECIES_512;
            default -> throw new IllegalArgumentException(BITS_PROPERTY + ": got " + bits + ", expected 64, 128, 256 or 512");
        };
    }

    /** {@code n} rounded up to whole vectors. */
    static int roundUp(int n) {
        return (n + COUNT - 1) / COUNT * COUNT;
    }

    static FloatVector load(float[] a, int at) {
        return FloatVector.fromArray(F32, a, at);
    }

    static FloatVector all(float value) {
        return FloatVector.broadcast(F32, value);
    }

    static IntVector all(int value) {
        return IntVector.broadcast(I32, value);
    }

    /**
     * The sum of all lanes, halves added to halves, whatever compiled the caller; {@code reduceLanes} leaves the order open.
     *
     * @param lanes scratch of at least {@link #COUNT} floats
     */
    static float sum(FloatVector v, float[] lanes) {
        v.intoArray(lanes, 0);
        for (int half = COUNT / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                lanes[i] += lanes[i + half];
            }
        }
        return lanes[0];
    }
}
