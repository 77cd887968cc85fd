package io.kinema.quality.compare;

import io.kinema.quality.Verdict;
import java.util.List;
import java.util.Optional;

/**
 * Two results compared.
 *
 * @param candidate what is judged
 * @param reference what it is held to
 * @param tensors   latents or other tensors, where both have them
 * @param pictures  frames, where both have them
 * @param sound     sound, where both have it
 * @param sync      where both have sound
 * @param notes     what was used, left out, or not alike
 * @param warnings  what a person should look at: faults of the candidate that the reference does not have
 * @param verdict   of the gates
 */
public record Comparison(Side candidate, Side reference, Optional<TensorComparison> tensors, Optional<PictureComparison> pictures,
                         Optional<SoundComparison> sound, Optional<Sync> sync, List<String> notes, List<String> warnings, Verdict verdict) {
    public Comparison {
        notes = List.copyOf(notes);
        warnings = List.copyOf(warnings);
    }
}
