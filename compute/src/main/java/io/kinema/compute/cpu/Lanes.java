package io.kinema.compute.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/** The vector width of this process, fixed when the class is loaded so that it is a constant to the compiler. */
final class Lanes {
    /** Test hook: vectors of this many bits instead of the machine's preferred width. */
    static final String BITS_PROPERTY = "kinema.vectorBits";

    static final VectorSpecies<Float> F32 = chosen();
    static final VectorSpecies<Integer> I32 = VectorSpecies.of(int.class, F32.vectorShape());
    static final int COUNT = F32.length();

    private static final VectorShuffle<Float> TURN_HALF = turn(2);
    private static final VectorShuffle<Float> TURN_QUARTER = turn(4);
    private static final VectorShuffle<Float> TURN_EIGHTH = turn(8);
    private static final VectorShuffle<Float> TURN_SIXTEENTH = turn(16);

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

    /** Moves every lane by a {@code part}-th of the vector, round the end. */
    private static VectorShuffle<Float> turn(int part) {
        return VectorShuffle.iota(F32, COUNT / part, 1, true);
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

    /** The sum of all lanes, halves added to halves whatever compiled the caller; {@code reduceLanes} leaves the order open. */
    static float sum(FloatVector v) {
        FloatVector sum = v.add(v.rearrange(TURN_HALF));
        if (COUNT > 2) {
            sum = sum.add(sum.rearrange(TURN_QUARTER));
        }
        if (COUNT > 4) {
            sum = sum.add(sum.rearrange(TURN_EIGHTH));
        }
        if (COUNT > 8) {
            sum = sum.add(sum.rearrange(TURN_SIXTEENTH));
        }
        return sum.lane(0);
    }

    /** The largest lane; a NaN may be passed over. */
    static float largest(FloatVector v) {
        FloatVector m = larger(v, v.rearrange(TURN_HALF));
        if (COUNT > 2) {
            m = larger(m, m.rearrange(TURN_QUARTER));
        }
        if (COUNT > 4) {
            m = larger(m, m.rearrange(TURN_EIGHTH));
        }
        if (COUNT > 8) {
            m = larger(m, m.rearrange(TURN_SIXTEENTH));
        }
        return m.lane(0);
    }

    /** Lane by lane the larger one. Plain comparison: the API's max orders zeros and NaN, which costs more. */
    static FloatVector larger(FloatVector a, FloatVector b) {
        return a.blend(b, b.compare(VectorOperators.GT, a));
    }
}
