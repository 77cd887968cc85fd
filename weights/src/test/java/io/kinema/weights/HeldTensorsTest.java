package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HeldTensorsTest {
    private static MemoryTensors source() {
        float[] values = {1, 2, 3, 4, 5, 6};
        return MemoryTensors.builder("test").rounded("w", DType.BF16, values, 3, 2).rounded("bias", DType.F32, new float[] {7, 8, 9}, 3).build();
    }

    @Test
    void tensorsAreTheSameInMemoryOfTheirOwn() {
        AtomicLong asked = new AtomicLong();
        HeldTensors.Memory counted = (bytes, owner) -> {
            asked.addAndGet(bytes);
            return owner.allocate(bytes, 256);
        };
        MemoryTensors base = source();
        try (HeldTensors held = HeldTensors.of(base, counted)) {
            assertThat(held.heldBytes()).as("nothing is copied before it is read").isZero();
            assertThat(held.names()).isEqualTo(base.names());
            assertThat(held.header("w")).isEqualTo(base.header("w"));
            StoredTensor w = held.get("w");
            assertThat(w.data().mismatch(base.get("w").data())).isEqualTo(-1);
            assertThat(w.data().address()).isNotEqualTo(base.get("w").data().address());
            assertThat(w.data().isReadOnly()).isTrue();
            assertThat(held.heldBytes()).isEqualTo(asked.get()).isPositive();
            assertThatThrownBy(() -> held.get("v")).isInstanceOf(BadWeightsException.class).hasMessageContaining("v");
        }
        assertThatThrownBy(() -> base.get("w").data().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whoeverReadsSharesOneCopy() {
        try (HeldTensors held = HeldTensors.of(source(), HeldTensors.Memory.PAGEABLE)) {
            StoredTensor whole = held.get("w");
            long bytes = held.heldBytes();
            assertThat(held.rows("w", 1, 3).data().address()).isEqualTo(whole.data().address() + 4);
            assertThat(held.matrix("w", 2, 3)).isInstanceOfSatisfying(FloatMatrix.class,
                    m -> assertThat(m.tensor().data().address()).isEqualTo(whole.data().address() + 8));
            assertThat(held.find("w").orElseThrow()).isEqualTo(whole);
            assertThat(held.heldBytes()).isEqualTo(bytes);
        }
    }

    @Test
    void whatIsNotNamedStaysWhereItWas() {
        MemoryTensors base = source();
        try (HeldTensors held = HeldTensors.of(base, HeldTensors.Memory.PAGEABLE, name -> name.equals("bias"))) {
            assertThat(held.get("w")).isEqualTo(base.get("w"));
            assertThat(held.rows("w", 0, 1)).isEqualTo(base.rows("w", 0, 1));
            assertThat(((FloatMatrix) held.matrix("w", 1, 2)).tensor()).isEqualTo(base.rows("w", 1, 2));
            assertThat(held.heldBytes()).isZero();
            assertThat(held.get("bias").data().address()).isNotEqualTo(base.get("bias").data().address());
        }
    }

    @Test
    void rowsThatLieApartAreHeldAsTheyAreAsked() {
        MemoryTensors base = source();
        try (HeldTensors held = HeldTensors.of(new Turned(base), HeldTensors.Memory.PAGEABLE)) {
            StoredTensor first = held.rows("w", 0, 1);
            assertThat(FloatConversion.toFloats(first)).containsExactly(5, 6);
            assertThat(held.rows("w", 0, 1)).isSameAs(first);
            assertThat(FloatConversion.toFloats(held.rows("w", 2, 3))).containsExactly(1, 2);
        }
    }

    @Test
    void integersComeWithTheirScalesAndEncodedMatricesStay() {
        MemoryTensors base = source();
        EncodedMatrix encoded = new Halves();
        try (HeldTensors held = HeldTensors.of(new Coded(base, encoded), HeldTensors.Memory.PAGEABLE)) {
            assertThat(held.matrix("int8", 1, 3)).isInstanceOfSatisfying(Int8Matrix.class, m -> {
                assertThat(m.rows()).isEqualTo(2);
                assertThat(FloatConversion.toFloats(m.scales())).containsExactly(8, 9);
            });
            long bytes = held.heldBytes();
            assertThat(held.matrix("coded", 0, 3)).isEqualTo(encoded);
            assertThat(held.heldBytes()).isEqualTo(bytes);
        }
    }

    @Test
    void memoryThatIsRefusedIsReported() {
        try (HeldTensors held = HeldTensors.of(source(), (bytes, _) -> {
            throw new IllegalStateException("no " + bytes + " bytes");
        })) {
            assertThatThrownBy(() -> held.get("w")).hasMessageStartingWith("no ");
        }
        HeldTensors closed = HeldTensors.of(source(), HeldTensors.Memory.PAGEABLE);
        closed.close();
        closed.close();
        assertThatThrownBy(() -> closed.get("w")).isInstanceOf(IllegalStateException.class);
    }

    /** Stores the rows of matrices last first. */
    private record Turned(TensorSource base) implements Wrapped {
        @Override
        public StoredTensor rows(String name, long from, long to) {
            if (to - from != 1) {
                throw new IllegalArgumentException("one run at a time");
            }
            return base.rows(name, 2 - from, 3 - from);
        }

        @Override
        public long runEnd(String name, long from, long to) {
            return from + 1;
        }
    }

    private record Coded(TensorSource base, EncodedMatrix encoded) implements Wrapped {
        @Override
        public Shape shape(String name) {
            return Shape.of(3, 2);
        }

        @Override
        public StoredMatrix matrix(String name, long from, long to) {
            if (name.equals("coded")) {
                return encoded;
            }
            MemorySegment values = Arena.ofAuto().allocate(6);
            return new Int8Matrix(new StoredTensor("int8", DType.I8, Shape.of(3, 2), values, base.get("w").file()), base.get("bias"), OptionalInt.empty());
        }
    }

    private interface Wrapped extends TensorSource {
        TensorSource base();

        @Override
        default java.util.SequencedSet<String> names() {
            return base().names();
        }

        @Override
        default java.util.Optional<StoredTensor> find(String name) {
            return base().find(name);
        }

        @Override
        default StoredTensor get(String name) {
            return base().get(name);
        }

        @Override
        default String origin() {
            return base().origin();
        }

        @Override
        default void close() {
            base().close();
        }
    }

    private record Halves() implements EncodedMatrix {
        @Override
        public void decode(long from, long to, float[] out, int at) {
            throw new AssertionError("nobody decodes here");
        }

        @Override
        public String name() {
            return "coded";
        }

        @Override
        public java.nio.file.Path file() {
            return java.nio.file.Path.of("coded");
        }

        @Override
        public long rows() {
            return 3;
        }

        @Override
        public long columns() {
            return 2;
        }

        @Override
        public EncodedMatrix rows(long from, long to) {
            return this;
        }

        @Override
        public long bytes() {
            return 1;
        }

        @Override
        public OptionalInt rotation() {
            return OptionalInt.empty();
        }

        @Override
        public String encoding() {
            return "halves";
        }
    }
}
