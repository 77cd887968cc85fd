package io.kinema.quality.compare;

import io.kinema.media.audio.Sound;
import io.kinema.quality.sound.RmsRatio;

/**
 * The sounds of two results, over the samples that were compared.
 *
 * @param candidateSource where the candidate's came from, for people
 * @param referenceSource where the reference's came from
 * @param cosine          {@link io.kinema.quality.sound.SpectralCosine}
 * @param rms             RMS ratios
 * @param differing       samples of all channels that are not the same bits
 * @param candidate       what is wrong with the candidate's
 * @param reference       what is wrong with the reference's
 * @param candidateSound  its samples
 * @param referenceSound  as many of the reference, at the same rate
 */
public record SoundComparison(String candidateSource, String referenceSource, double cosine, RmsRatio rms, long differing, Faults.Sound candidate,
                              Faults.Sound reference, Sound candidateSound, Sound referenceSound) {
}
