package io.kinema.compute.testing;

import io.kinema.compute.Tensor;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Which named tensor of a checkpoint lies where in host memory, copies in other dtypes included. Used by one thread. */
final class TensorNames {
    private record Place(long end, String name) {
    }

    private final TreeMap<Long, Place> places = new TreeMap<>();

    void name(Tensor tensor, String name) {
        forget(tensor);
        long from = tensor.data().address();
        places.put(from, new Place(from + tensor.data().byteSize(), name));
    }

    /** The name of what {@code tensor} views. */
    Optional<String> of(Tensor tensor) {
        long at = tensor.data().address();
        Map.Entry<Long, Place> place = places.floorEntry(at);
        long last = at + tensor.elements() * tensor.dtype().bytes();
        return place == null || last > place.getValue().end() ? Optional.empty() : Optional.of(place.getValue().name());
    }

    /** Something else is written there. */
    void forget(Tensor tensor) {
        long from = tensor.data().address();
        Map.Entry<Long, Place> place = places.floorEntry(from);
        if (place != null && from < place.getValue().end()) {
            places.remove(place.getKey());
        }
        places.subMap(from, from + Math.max(1, tensor.data().byteSize())).clear();
    }
}
