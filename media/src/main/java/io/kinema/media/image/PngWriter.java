package io.kinema.media.image;

import io.kinema.media.BadMediaException;
import io.kinema.media.file.AtomicFile;
import io.kinema.media.file.WriteTarget;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Writes pictures as 8-bit RGB PNG files; the same picture gives the same bytes. */
public final class PngWriter {

    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    private static final int COMPRESSION = 6;
    private static final byte BITS = 8;
    private static final byte TRUE_COLOUR = 2;

    private PngWriter() {
    }

    /**
     * Writes one picture; an existing file is replaced.
     *
     * @throws BadMediaException if the file cannot be written; nothing is left then
     */
    public static void write(RgbImage image, Path target) {
        try (AtomicFile file = AtomicFile.create(target)) {
            ByteBuffer bytes = ByteBuffer.wrap(encode(image));
            while (bytes.hasRemaining()) {
                try {
                    file.channel().write(bytes);
                } catch (IOException e) {
                    throw file.failure(e);
                }
            }
            file.commit();
        }
    }

    /**
     * The file of picture {@code index} in a folder of frames: {@code frame-00000.png}, {@code frame-00001.png}, ...
     *
     * @throws BadMediaException if the folder does not exist and cannot be made
     */
    public static Path frameFile(Path folder, int index) {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw WriteTarget.failure(folder, e);
        }
        return folder.resolve(String.format(Locale.ROOT, "frame-%05d.png", index));
    }

    /** The bytes of a PNG file. */
    public static byte[] encode(RgbImage image) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(SIGNATURE);
        ByteBuffer header = ByteBuffer.allocate(13).putInt(image.width()).putInt(image.height()).put(BITS).put(TRUE_COLOUR);
        chunk(file, "IHDR", header.array());
        chunk(file, "IDAT", compressed(image));
        chunk(file, "IEND", new byte[0]);
        return file.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream file, String type, byte[] data) {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        CRC32 crc = new CRC32();
        crc.update(name);
        crc.update(data);
        try (DataOutputStream out = new DataOutputStream(file)) {
            out.writeInt(data.length);
            out.write(name);
            out.write(data);
            out.writeInt((int) crc.getValue());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] compressed(RgbImage image) {
        Deflater deflater = new Deflater(COMPRESSION);
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(data, deflater)) {
            int rowBytes = image.width() * RgbImage.CHANNELS;
            byte[][] candidates = new byte[PngFilter.values().length][rowBytes + 1];
            for (int y = 0; y < image.height(); y++) {
                out.write(PngFilter.best(image.rgb(), y, rowBytes, candidates));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            deflater.end();
        }
        return data.toByteArray();
    }
}
