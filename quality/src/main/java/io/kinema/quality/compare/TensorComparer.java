package io.kinema.quality.compare;

import io.kinema.quality.tensor.TensorDifference;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;

/** Compares the tensors of two safetensors files by name. */
final class TensorComparer {
    private TensorComparer() {
    }

    /** @throws BadWeightsException when a file is damaged, or no tensor has a name and shape in common */
    static TensorComparison compare(Path candidate, Path reference, Differences differences) {
        try (SafetensorsFile a = SafetensorsFile.open(candidate); SafetensorsFile b = SafetensorsFile.open(reference)) {
            requireOneSet(a.names(), b.names(), differences);
            List<TensorDifference> tensors = new ArrayList<>();
            for (String name : b.names()) {
                Optional<StoredTensor> x = a.find(name);
                StoredTensor y = b.get(name);
                if (x.isPresent() && !x.get().shape().equals(y.shape())) {
                    differences.differ("Tensor " + name + " has shape " + x.get().shape() + " in the candidate and " + y.shape() + " in the reference", "it was left out");
                } else if (x.isPresent()) {
                    tensors.add(TensorDifference.of(x.get(), y));
                }
            }
            if (tensors.isEmpty()) {
                throw new BadWeightsException(candidate + ": has no tensor of the same name and shape as one of " + reference + "; compare files of one kind");
            }
            return new TensorComparison(String.valueOf(candidate.getFileName()), String.valueOf(reference.getFileName()), tensors);
        }
    }

    private static void requireOneSet(SequencedSet<String> candidate, SequencedSet<String> reference, Differences differences) {
        strangers(candidate, reference).ifPresent(names -> differences.differ("Only the candidate has the tensors " + names, "they were left out"));
        strangers(reference, candidate).ifPresent(names -> differences.differ("Only the reference has the tensors " + names, "they were left out"));
    }

    private static Optional<String> strangers(SequencedSet<String> here, SequencedSet<String> there) {
        List<String> only = here.stream().filter(name -> !there.contains(name)).toList();
        String shown = String.join(", ", only.subList(0, Math.min(3, only.size()))) + (only.size() > 3 ? " and " + (only.size() - 3) + " more" : "");
        return only.isEmpty() ? Optional.empty() : Optional.of(shown);
    }
}
