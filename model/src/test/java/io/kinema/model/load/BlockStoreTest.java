package io.kinema.model.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import org.junit.jupiter.api.Test;

class BlockStoreTest {
    @Test
    void blocksOnDemandAreInMemoryWhileTheyAreLent() {
        try (MemoryTensors source = MemoryTensors.builder("test").rounded("0.bias", DType.BF16, new float[] {1, 2}, 2)
                .rounded("1.bias", DType.BF16, new float[] {3, 4}, 2).build();
             Backend backend = new ReferenceBackend(); Workspace owner = backend.workspace("test");
             BlockStore<Tensor> store = BlockStore.onDemand(2, new Parameters(backend, source, owner, "", Rounding.AS_STORED),
                     (p, i) -> p.f32(i + ".bias", 2))) {
            BlockStore.Lease<Tensor> lease = store.acquire(1);
            Tensor lent = lease.weights();
            assertThat(lent.toFloats()).containsExactly(3, 4);
            lease.close();
            lease.close();
            assertThatThrownBy(lent::toFloats).as("given back").isInstanceOf(IllegalStateException.class);
            try (BlockStore.Lease<Tensor> again = store.acquire(1)) {
                assertThat(again.weights().toFloats()).containsExactly(3, 4);
            }
            assertThat(owner.peakBytes()).as("nothing of it belongs to the reader's own memory").isZero();
            assertThatThrownBy(() -> store.acquire(2)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void aBlockThatCannotBeReadKeepsNothing() {
        try (MemoryTensors source = MemoryTensors.builder("test").build(); Backend backend = new ReferenceBackend(); Workspace owner = backend.workspace("test");
             BlockStore<Tensor> store = BlockStore.onDemand(1, new Parameters(backend, source, owner, "", Rounding.AS_STORED), (p, _) -> p.f32("bias", 2))) {
            assertThatThrownBy(() -> store.acquire(0)).isInstanceOf(BadWeightsException.class).hasMessageContaining("bias");
        }
    }
}
