package io.kinema.cuda.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.CudaUnavailableException;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.SearchPath;
import io.kinema.cuda.nccl.NcclGroup.Part;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NcclTest {
    private final StandInNccl library = new StandInNccl();

    private static MemorySegment floats(Arena arena, float... values) {
        return arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
    }

    private static Part inPlace(MemorySegment values) {
        return new Part(values.address(), values.address(), MemorySegment.NULL);
    }

    @Test
    void oneThreadEnqueuesForAllRanks() {
        NcclGroup group = NcclGroup.open(library.library(), List.of(1, 0));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = floats(arena, 1, 2, 3);
            MemorySegment second = floats(arena, 10, 20, 30);
            group.allReduce(List.of(inPlace(first), inPlace(second)), 3);
            assertThat(first.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(11, 22, 33);
            assertThat(second.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(11, 22, 33);
        }
        group.leave();
        assertThat(group.isOpen()).isTrue();
        group.leave();
        assertThat(group.isOpen()).isFalse();
        assertThat(library.calls()).containsExactly("init [1, 0]", "group of 2 on thread " + Thread.currentThread().getName(), "destroy 0", "destroy 1");
    }

    @Test
    void anAbortedGroupIsNotUsedOrDestroyedAgain() {
        NcclGroup group = NcclGroup.open(library.library(), List.of(0, 1));
        group.abort();
        group.abort();
        group.leave();
        group.leave();
        assertThat(library.calls()).containsExactly("init [0, 1]", "abort 0", "abort 1");
        assertThatThrownBy(() -> group.allReduce(List.of(), 1)).isInstanceOf(IllegalStateException.class).hasMessageContaining("aborted when a rank failed");
    }

    @Test
    void aRefusedCallIsNamedAndItsGroupEnded() {
        NcclGroup group = NcclGroup.open(library.library(), List.of(0, 1));
        library.refuse(5);
        assertThatThrownBy(() -> group.allReduce(List.of(new Part(0, 0, MemorySegment.NULL), new Part(0, 0, MemorySegment.NULL)), 1))
                .isInstanceOf(CudaException.class).hasMessage("ncclAllReduce failed: ncclInvalidUsage (5), remote process exited or there was a network error: "
                        + "socketProgress: Connection closed by peer");
        assertThat(library.calls()).last().asString().startsWith("group of 1");
    }

    @Test
    void errorsOfEarlierOperationsAreToldAtTheNext() {
        NcclGroup group = NcclGroup.open(library.library(), List.of(0, 1));
        library.failLater(6);
        assertThatThrownBy(() -> group.allGather(List.of(new Part(0, 0, MemorySegment.NULL), new Part(0, 0, MemorySegment.NULL)), 1))
                .isInstanceOf(CudaException.class).hasMessageStartingWith("NCCL on rank 0 failed: ncclRemoteError (6)");
    }

    @Test
    void readsTheVersionAndNamesFunctionsOfNewerOnesWhenTheyAreUsed() {
        assertThat(library.library().version()).isEqualTo("2.27.7");
        NcclGroup group = NcclGroup.open(library.library(), List.of(0, 1));
        assertThatThrownBy(() -> group.reduceScatter(List.of(new Part(0, 0, MemorySegment.NULL), new Part(0, 0, MemorySegment.NULL)), 1))
                .isInstanceOf(LinkageError.class).hasMessageContaining("NCCL has no function ncclReduceScatter");
    }

    @Test
    void absentItSaysHowToGetIt(@TempDir Path nothing) {
        LibraryFinder finder = new LibraryFinder(SearchPath.of(Map.of(SearchPath.HOME_VARIABLE, nothing.toString())::get, nothing));
        assertThatThrownBy(() -> Nccl.load(finder.find(CudaLibrary.NCCL))).isInstanceOf(CudaUnavailableException.class)
                .hasMessageContaining("NCCL (libnccl.so.2)").hasMessageContaining("pip install nvidia-nccl-cu13");
    }
}
