package io.kinema.quality.report;

import io.kinema.media.image.RgbImage;
import io.kinema.quality.Gate;
import io.kinema.quality.GateLine;
import io.kinema.quality.Numbers;
import io.kinema.quality.Verdict;
import io.kinema.quality.compare.KeptFrame;
import io.kinema.quality.compare.PictureComparison;
import io.kinema.quality.picture.Flash;
import java.util.List;

/** Curves over the frames, and the frames themselves side by side. */
final class FramesSection {
    /** One value in two hundred frames of 1344x768 off by one is 113 dB: above this there is next to nothing to see. */
    private static final double MOST_DB = 100;

    private FramesSection() {
    }

    static void append(PictureComparison pictures, Verdict verdict, StringBuilder out) {
        List<Integer> flashes = pictures.candidate().flashes().stream().map(Flash::frame).toList();
        out.append("<section>\n<h2>Frame by frame</h2>\n");
        if (pictures.metrics().differing() == 0) {
            out.append("<p>All ").append(pictures.metrics().frames()).append(" frames are equal bit for bit.</p>\n");
        } else {
            chart("psnr", "PSNR of each frame in dB; " + (int) MOST_DB + " and more are drawn as " + (int) MOST_DB,
                    new FrameChart("psnr", "PSNR of each frame", pictures.metrics().psnrByFrame(), limit(verdict, Gate.PSNR), MOST_DB), flashes, out);
            if (pictures.metrics().ssim().isPresent()) {
                chart("ssim", "SSIM of each frame", new FrameChart("ssim", "SSIM of each frame", pictures.metrics().ssimByFrame(), limit(verdict, Gate.SSIM), 1), flashes, out);
            }
        }
        out.append("</section>\n<section>\n<h2>Frames</h2>\n");
        pictures.kept().forEach(kept -> frame(kept, out));
        out.append("</section>\n");
    }

    private static double limit(Verdict verdict, Gate gate) {
        return verdict.lines().stream().filter(line -> line.gate() == gate).mapToDouble(GateLine::limit).findFirst().orElse(gate.published());
    }

    private static void chart(String id, String caption, FrameChart chart, List<Integer> flashes, StringBuilder out) {
        out.append("<figure id=\"").append(id).append("\">").append(chart.svg(flashes)).append("<figcaption>").append(Html.escape(caption))
                .append(flashes.isEmpty() ? "" : "; upright lines are single-frame flashes of the candidate").append("; the ring is the worst frame</figcaption></figure>\n");
    }

    private static void frame(KeptFrame kept, StringBuilder out) {
        FramePictures pictures = new FramePictures(kept);
        boolean equal = kept.score().differing() == 0;
        String name = "frame " + kept.index();
        out.append("<h3>Frame ").append(kept.index()).append(" (").append(Html.escape(kept.reason())).append(")").append(equal ? ": equal" : ": PSNR " + Numbers.plain(kept.score().psnr())
                + " dB" + (Double.isNaN(kept.score().ssim()) ? "" : ", SSIM " + Numbers.nearOne(kept.score().ssim()))).append("</h3>\n");
        trio("", pictures.candidate(), pictures.reference(), equal ? List.of() : List.of(pictures.difference()), name, pictures.gain(), out);
        if (kept.reason().contains("lowest") && !equal) {
            FramePictures.Crop crop = pictures.crop();
            String where = crop.candidate().width() + "x" + crop.candidate().height() + " pixels of " + name + " from column " + crop.left() + ", row " + crop.top();
            out.append("<p class=\"soft\">Where it differs most: ").append(where).append("</p>\n");
            trio(" pixels", crop.candidate(), crop.reference(), List.of(crop.difference()), where, pictures.gain(), out);
        }
    }

    private static void trio(String kind, RgbImage candidate, RgbImage reference, List<RgbImage> difference, String name, int gain, StringBuilder out) {
        out.append("<div class=\"trio").append(kind).append("\">\n");
        figure(candidate, "candidate", name, out);
        figure(reference, "reference", name, out);
        difference.forEach(image -> figure(image, "difference" + (gain > 1 ? " times " + gain : ""), name, out));
        out.append("</div>\n");
    }

    private static void figure(RgbImage image, String what, String name, StringBuilder out) {
        out.append("<figure>").append(Html.picture(image, what + ", " + name)).append("<figcaption>").append(what).append("</figcaption></figure>\n");
    }
}
