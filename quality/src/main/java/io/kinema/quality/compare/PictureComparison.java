package io.kinema.quality.compare;

import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.picture.FrameShift;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The frames of two results.
 *
 * @param candidateSource where the candidate's came from, for people
 * @param referenceSource where the reference's came from
 * @param width           of every frame
 * @param height          of every frame
 * @param rate            frames a second, where a file says
 * @param candidateSpan   when the candidate's are shown
 * @param referenceSpan   when the reference's are
 * @param metrics         PSNR and SSIM of each pair, and of all
 * @param shift           by how many frames one runs behind the other
 * @param candidate       what is wrong with the candidate's
 * @param reference       what is wrong with the reference's
 * @param kept            pairs for a report; empty when none were asked for
 */
public record PictureComparison(String candidateSource, String referenceSource, int width, int height, OptionalDouble rate, Span candidateSpan,
                                Span referenceSpan, FrameComparison metrics,
                                FrameShift shift, Faults.Pictures candidate, Faults.Pictures reference, List<KeptFrame> kept) {
    public PictureComparison {
        kept = List.copyOf(kept);
    }
}
