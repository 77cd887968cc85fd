package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.event.IIOReadWarningListener;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * Decodes JPEG through the JDK, whose libjpeg gives the same bytes as the one in Pillow; FFmpeg's decoder rounds differently.
 *
 * <p>Gray and three-component files give what they store as RGB; four components are taken as inverted CMYK or YCCK, as every
 * writer of such files stores them.
 */
final class JpegPictures {

    /** The standard allows any number, each of which costs a pass over all pixels; encoders make about ten. */
    private static final int MOST_SCANS = 100;

    private JpegPictures() {
    }

    static RgbImage decode(byte[] file, String name) {
        JpegHeader header = JpegHeader.read(file).orElseThrow();
        if (!header.ended()) {
            throw ImageReader.damaged(name, "it ends too early");
        }
        if (header.scans() > MOST_SCANS) {
            throw new BadMediaException("The picture " + name + " has " + header.scans() + " scans, more than " + MOST_SCANS
                    + "; save it again as a JPEG that is not progressive.");
        }
        javax.imageio.ImageReader reader = ImageIO.getImageReadersByFormatName("jpeg").next();
        List<String> warnings = new ArrayList<>();
        // Straight from memory: the default would put a temporary file on disk.
        try (ImageInputStream in = new MemoryCacheImageInputStream(new ByteArrayInputStream(JpegHeader.withoutProfile(file)))) {
            reader.addIIOReadWarningListener(warningsInto(warnings));
            reader.setInput(in, true, true);
            RgbImage image = header.components() == 4 ? fourComponents(reader.readRaster(0, null), header) : rgb(reader.read(0));
            if (warnings.stream().anyMatch(JpegPictures::meansLoss)) {
                throw ImageReader.damaged(name, warnings.getFirst());
            }
            return image;
        } catch (IOException | RuntimeException e) {
            if (e instanceof BadMediaException bad) {
                throw bad;
            }
            throw ImageReader.damaged(name, String.valueOf(e.getMessage()));
        } finally {
            reader.dispose();
        }
    }

    private static IIOReadWarningListener warningsInto(List<String> warnings) {
        return (source, warning) -> warnings.add(warning);
    }

    /** Of libjpeg's warnings, the ones about missing pixels; stray bytes between segments lose nothing. */
    private static boolean meansLoss(String warning) {
        String text = warning.toLowerCase(Locale.ROOT);
        return text.contains("premature") || text.contains("corrupt") && !text.contains("extraneous");
    }

    private static RgbImage rgb(BufferedImage image) {
        Raster raster = image.getRaster();
        RgbImage out = RgbImage.black(raster.getWidth(), raster.getHeight());
        int bands = raster.getNumBands();
        int green = bands < RgbImage.CHANNELS ? 0 : 1;
        int blue = bands < RgbImage.CHANNELS ? 0 : 2;
        int[] row = new int[raster.getWidth() * bands];
        int at = 0;
        for (int y = 0; y < raster.getHeight(); y++) {
            raster.getPixels(raster.getMinX(), raster.getMinY() + y, raster.getWidth(), 1, row);
            for (int i = 0; i < row.length; i += bands) {
                out.rgb()[at++] = (byte) row[i];
                out.rgb()[at++] = (byte) row[i + green];
                out.rgb()[at++] = (byte) row[i + blue];
            }
        }
        return out;
    }

    /** Four inverted components to RGB: each colour times black, over 255, rounded as Pillow does. */
    private static RgbImage fourComponents(Raster raster, JpegHeader header) {
        boolean ycck = header.adobeTransform() == JpegHeader.YCCK;
        RgbImage out = RgbImage.black(raster.getWidth(), raster.getHeight());
        int[] pixel = new int[4];
        int at = 0;
        for (int y = 0; y < raster.getHeight(); y++) {
            for (int x = 0; x < raster.getWidth(); x++) {
                raster.getPixel(x, y, pixel);
                if (ycck) {
                    ycckToCmyk(pixel);
                }
                for (int c = 0; c < RgbImage.CHANNELS; c++) {
                    out.rgb()[at++] = (byte) timesOver255(pixel[c], pixel[3]);
                }
            }
        }
        return out;
    }

    private static int timesOver255(int a, int b) {
        int product = a * b + 128;
        return (product >> 8) + product >> 8;
    }

    /** The JFIF equations in libjpeg's 16-bit fixed point; what they give as RGB is 255 minus the stored CMY. */
    private static void ycckToCmyk(int[] p) {
        int cb = p[1] - 128;
        int cr = p[2] - 128;
        int half = 1 << 15;
        int red = p[0] + (91881 * cr + half >> 16);
        int green = p[0] + (-22554 * cb - 46802 * cr + half >> 16);
        int blue = p[0] + (116130 * cb + half >> 16);
        p[0] = 255 - Math.clamp(red, 0, 255);
        p[1] = 255 - Math.clamp(green, 0, 255);
        p[2] = 255 - Math.clamp(blue, 0, 255);
    }
}
