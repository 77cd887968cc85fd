package io.kinema.quality.report;

import io.kinema.quality.compare.Comparison;
import io.kinema.quality.picture.SsimWindow;
import io.kinema.quality.sound.SpectralCosine;

/** How the numbers of a page were made. */
final class MethodSection {
    private MethodSection() {
    }

    static void append(Comparison comparison, StringBuilder out) {
        out.append("<section>\n<h2>How it was measured</h2>\n<ul class=\"soft\">\n");
        if (comparison.tensors().isPresent()) {
            item("Relative L2: ||candidate - reference|| / ||reference|| over the whole tensor, in float64.", out);
        }
        if (comparison.pictures().isPresent()) {
            item("PSNR: 10 log10(255\u00b2 / MSE), the MSE over all frames, pixels and the channels R, G, B of 8-bit frames.", out);
            item("SSIM: Wang et al. 2004, " + SsimWindow.GAUSSIAN_11.name() + ", K1 0.01, K2 0.03, L 255, valid positions only, mean of R, G, B and of the frames.", out);
            item("Seams, flashes and repeats are found in each result alone; what both have is the picture's own.", out);
        }
        if (comparison.sound().isPresent()) {
            item("Spectral cosine: of the magnitudes of a short-time Fourier transform, Hann window " + SpectralCosine.WINDOW + ", hop " + SpectralCosine.HOP + ", all channels together.", out);
            item("RMS ratio: of each channel and of all; the one farthest from 1 is judged.", out);
            item("A/V drift: lag of the sound by cross-correlation less lag of the pictures in whole frames, against the reference.", out);
        }
        out.append("</ul>\n</section>\n");
    }

    private static void item(String text, StringBuilder out) {
        out.append("<li>").append(Html.escape(text)).append("</li>\n");
    }
}
