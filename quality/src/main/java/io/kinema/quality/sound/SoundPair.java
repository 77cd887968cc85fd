package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;

/** What two sounds must share before their samples can be compared one by one. */
final class SoundPair {
    private SoundPair() {
    }

    /** @throws IllegalArgumentException when rates, channels or lengths differ */
    static void requireAlike(Sound candidate, Sound reference) {
        if (candidate.sampleRate() != reference.sampleRate() || candidate.channelCount() != reference.channelCount()
                || candidate.length() != reference.length()) {
            throw new IllegalArgumentException("sounds of one rate, layout and length are compared, got " + candidate + " and " + reference);
        }
    }
}
