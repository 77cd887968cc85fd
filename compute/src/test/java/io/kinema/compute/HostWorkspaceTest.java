package io.kinema.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.weights.DType;
import org.junit.jupiter.api.Test;

class HostWorkspaceTest {

    @Test
    void tensorsAreAlignedAndApart() {
        try (HostWorkspace ws = HostWorkspace.create("test")) {
            Tensor a = ws.allocate(DType.BF16, 3);
            Tensor b = ws.f32(5, 7);
            assertThat(a.data().address() % 64).isZero();
            assertThat(b.data().address() % 64).isZero();
            assertThat(b.data().address()).isGreaterThanOrEqualTo(a.data().address() + 64);
        }
    }

    @Test
    void framesGiveMemoryBackAndThePeakStays() {
        try (HostWorkspace ws = HostWorkspace.create("test")) {
            ws.f32(16);
            long address;
            try (Workspace.Frame frame = ws.frame()) {
                address = ws.f32(1024).data().address();
                assertThat(ws.bytes()).isEqualTo(64 + 4096);
                frame.close();
            }
            assertThat(ws.bytes()).isEqualTo(64);
            assertThat(ws.peakBytes()).isEqualTo(64 + 4096);
            assertThat(ws.f32(1024).data().address()).isEqualTo(address);
        }
    }

    @Test
    void chunksAreReusedWhateverTheirSizes() {
        try (HostWorkspace ws = HostWorkspace.create("test")) {
            long reserved = 0;
            for (int round = 0; round < 3; round++) {
                try (Workspace.Frame frame = ws.frame()) {
                    ws.f32(300_000);
                    ws.f32(10);
                    ws.f32(2_000_000);
                    ws.f32(10);
                    ws.f32(700_000);
                }
                assertThat(ws.reservedBytes()).isGreaterThanOrEqualTo(reserved);
                if (round > 0) {
                    assertThat(ws.reservedBytes()).isEqualTo(reserved);
                }
                reserved = ws.reservedBytes();
            }
        }
    }

    @Test
    void tensorsOfAnOuterFrameSurviveInnerFramesAndNewChunks() {
        try (HostWorkspace ws = HostWorkspace.poisoned("test"); Workspace.Frame outer = ws.frame()) {
            Tensor kept = ws.f32(4);
            kept.data().fill((byte) 0);
            for (int i = 0; i < 4; i++) {
                try (Workspace.Frame inner = ws.frame()) {
                    ws.f32(400_000L * (i + 1));
                }
                assertThat(kept.toFloats()).containsExactly(0, 0, 0, 0);
            }
        }
    }

    @Test
    void poisonedMemoryIsNaNWhenAllocatedAndWhenGivenBack() {
        try (HostWorkspace ws = HostWorkspace.poisoned("test")) {
            Tensor t;
            try (Workspace.Frame frame = ws.frame()) {
                t = ws.f32(3);
                assertThat(t.get(1)).isNaN();
                t.data().fill((byte) 0);
            }
            assertThat(t.get(1)).isNaN();
        }
    }

    @Test
    void framesCloseInReverseOrderOnly() {
        try (HostWorkspace ws = HostWorkspace.create("test")) {
            Workspace.Frame outer = ws.frame();
            Workspace.Frame inner = ws.frame();
            assertThatThrownBy(outer::close).isInstanceOf(IllegalStateException.class).hasMessageContaining("workspace of test");
            inner.close();
            inner.close();
            outer.close();
        }
    }

    @Test
    void useAfterCloseIsAnExceptionAndClosingTwiceIsNot() {
        HostWorkspace ws = HostWorkspace.create("test");
        Workspace.Frame frame = ws.frame();
        Tensor t = ws.f32(2);
        ws.close();
        ws.close();
        frame.close();
        assertThatThrownBy(() -> ws.f32(1)).isInstanceOf(IllegalStateException.class).hasMessage("workspace of test is closed");
        assertThatThrownBy(() -> t.get(0)).isInstanceOf(IllegalStateException.class);
    }
}
