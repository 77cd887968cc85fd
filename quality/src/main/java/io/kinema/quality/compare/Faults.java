package io.kinema.quality.compare;

import io.kinema.quality.picture.Flash;
import io.kinema.quality.picture.Seam;
import io.kinema.quality.sound.Click;
import io.kinema.quality.sound.Levels;
import java.util.List;

/** What detectors find in one result without looking at the other. */
public sealed interface Faults {
    /**
     * In the pictures.
     *
     * @param flashes   single frames that stand out
     * @param seams     lines through all frames, the strongest first
     * @param seamScore of the strongest line, a seam or not, in luma levels
     * @param repeats   frames equal to the one before, in a clip that moves
     * @param constant  whether all frames are equal
     */
    record Pictures(List<Flash> flashes, List<Seam> seams, double seamScore, List<Integer> repeats, boolean constant) implements Faults {
        public Pictures {
            flashes = List.copyOf(flashes);
            seams = List.copyOf(seams);
            repeats = List.copyOf(repeats);
        }
    }

    /**
     * In the sound.
     *
     * @param levels loudness and clipping
     * @param clicks sudden jumps
     */
    record Sound(Levels levels, List<Click> clicks) implements Faults {
        public Sound {
            clicks = List.copyOf(clicks);
        }
    }
}
