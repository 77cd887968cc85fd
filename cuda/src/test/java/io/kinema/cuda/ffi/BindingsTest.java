package io.kinema.cuda.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;

class BindingsTest {
    record Text(@Symbol(value = "strlen", takes = MemorySegment.class, returns = long.class) MethodHandle length,
                @Symbol(value = "kinema_no_such_function", takes = {MemorySegment.class, int.class}) MethodHandle absent) {
    }

    record Unmarked(MethodHandle handle) {
    }

    @Test
    void bindsWhatIsThereAndNamesWhatIsNotWhenItIsUsed() throws Throwable {
        Text text = Bindings.bind(Text.class, Linker.nativeLinker().defaultLookup(), "the C library");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocateFrom("seven!!");
            assertThat((long) text.length().invokeExact(word)).isEqualTo(7);
            assertThatThrownBy(() -> NativeCall.status(() -> (int) text.absent().invokeExact(word, 1)))
                    .isInstanceOf(LinkageError.class).hasMessageContaining("the C library").hasMessageContaining("kinema_no_such_function");
        }
    }

    @Test
    void refusesAComponentWithoutASymbol() {
        assertThatThrownBy(() -> Bindings.bind(Unmarked.class, Linker.nativeLinker().defaultLookup(), "the C library"))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("handle").hasMessageContaining("@Symbol");
    }
}
