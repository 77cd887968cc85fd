package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import io.kinema.media.file.ReadSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Reads a PNG, JPEG, WebP or HEIF (HEIC, AVIF) picture as upright 8-bit RGB.
 *
 * <p>The format is decided by content. The header is checked against the {@link ImageLimits} before anything is decoded; the
 * EXIF orientation, or HEIF's own, is applied; transparent pixels are laid on white (HEIF's transparency is not read). Of 16-bit samples
 * the high byte is kept, and a colour profile is not applied. PNG and lossless WebP give the stored values, JPEG what libjpeg gives, lossy WebP what libwebp
 * gives, which in all cases is what Pillow reads. Damaged or truncated files are refused.
 */
public final class ImageReader {

    private ImageReader() {
    }

    /**
     * Reads a picture within the default limits.
     *
     * @throws BadMediaException if the file is missing, no picture, too large or damaged
     */
    public static RgbImage read(Path file) {
        return read(file, ImageLimits.DEFAULT);
    }

    /**
     * Reads a picture.
     *
     * @throws BadMediaException if the file is missing, no picture, damaged or beyond {@code limits}
     */
    public static RgbImage read(Path file, ImageLimits limits) {
        return decode(bytes(file, limits), "'" + file + "'", limits);
    }

    /**
     * Decodes a picture held in memory.
     *
     * @param name what to call the picture in messages
     * @throws BadMediaException if it is no picture, damaged or beyond {@code limits}
     */
    public static RgbImage decode(byte[] file, String name, ImageLimits limits) {
        ImageHeader header = header(file, name, limits);
        RgbImage stored = switch (header.format()) {
            case PNG, WEBP -> FFmpegPictures.decode(file, header, name);
            case JPEG -> JpegPictures.decode(file, name);
            case HEIF -> HeifPictures.decode(file, name, limits);
        };
        if (stored.width() != header.width() || stored.height() != header.height()) {
            throw damaged(name, "its header says " + header.width() + "x" + header.height() + " and its pixels are "
                    + stored.width() + "x" + stored.height());
        }
        return header.orientation().apply(stored);
    }

    /**
     * Reads what a picture says of itself, without decoding it.
     *
     * @throws BadMediaException if the file is missing, no picture or beyond {@code limits}
     */
    public static ImageHeader header(Path file, ImageLimits limits) {
        return header(bytes(file, limits), "'" + file + "'", limits);
    }

    private static ImageHeader header(byte[] file, String name, ImageLimits limits) {
        if (file.length == 0) {
            throw new BadMediaException("The picture " + name + " is empty (0 bytes); give a PNG, JPEG, WebP or HEIC file.");
        }
        Optional<ImageHeader> read = ImageHeader.isHeif(file) ? Optional.of(HeifPictures.header(file, name)) : ImageHeader.read(file);
        ImageHeader header = read.orElseThrow(() -> new BadMediaException("The file " + name
                + " is not a picture that can be read, or its header is cut off; give a PNG, JPEG, WebP or HEIC file."));
        if (header.width() < 1 || header.height() < 1) {
            throw damaged(name, "its header says " + header.width() + "x" + header.height() + " pixels");
        }
        if (header.height() > limits.maxPixels() / header.width()) {
            throw new BadMediaException("The picture " + name + " is " + header.width() + "x" + header.height() + ", more than "
                    + limits.maxPixels() + " pixels; scale it down first.");
        }
        return header;
    }

    private static byte[] bytes(Path file, ImageLimits limits) {
        try {
            if (Files.isDirectory(file)) {
                throw new BadMediaException("The picture '" + file + "' is a folder; give a PNG, JPEG, WebP or HEIC file.");
            }
            ReadSource.requirePlain(file);
            try (InputStream in = Files.newInputStream(file)) {
                byte[] bytes = in.readNBytes((int) limits.maxBytes() + 1);
                if (bytes.length > limits.maxBytes()) {
                    throw new BadMediaException("The picture '" + file + "' has more than " + limits.maxBytes()
                            + " bytes; scale or compress it first.");
                }
                return bytes;
            }
        } catch (NoSuchFileException e) {
            throw new BadMediaException("The picture '" + file + "' does not exist; give a PNG, JPEG, WebP or HEIC file.", e);
        } catch (IOException e) {
            throw new BadMediaException("The picture '" + file + "' cannot be read: " + e.getMessage() + ".", e);
        }
    }

    static BadMediaException damaged(String name, String detail) {
        return new BadMediaException("The picture " + name + " is damaged: " + detail + "; save it again as PNG or JPEG.");
    }
}
