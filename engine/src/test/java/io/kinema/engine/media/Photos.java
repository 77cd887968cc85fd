package io.kinema.engine.media;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.metadata.IIOMetadata;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** One photo as the eight kinds of camera store it: JPEGs of 4:4:4 whose 8x8 blocks are flat, so that none loses anything to its way of lying. */
public final class Photos {
    /** Pixels across, upright. */
    public static final int WIDTH = 144;
    /** Pixels down, upright. */
    public static final int HEIGHT = 96;
    private static final int BLOCK = 8;
    private static final String JPEG = "javax_imageio_jpeg_image_1.0";

    private Photos() {
    }

    /** A JPEG file of the photo with this EXIF orientation, 1 to 8. */
    public static byte[] jpeg(int orientation) {
        return withOrientation(jpeg(stored(orientation), false), orientation);
    }

    /** The photo, upright, as a progressive JPEG. */
    public static byte[] progressiveJpeg() {
        return jpeg(stored(1), true);
    }

    /** Where the standard says that row 0 and column 0 of the stored picture lie in the upright one. */
    private static BufferedImage stored(int orientation) {
        boolean turned = orientation > 4;
        BufferedImage stored = new BufferedImage(turned ? HEIGHT : WIDTH, turned ? WIDTH : HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int row = 0; row < stored.getHeight(); row++) {
            for (int column = 0; column < stored.getWidth(); column++) {
                stored.setRGB(column, row, switch (orientation) {
                    case 1 -> photo(column, row);
                    case 2 -> photo(WIDTH - 1 - column, row);
                    case 3 -> photo(WIDTH - 1 - column, HEIGHT - 1 - row);
                    case 4 -> photo(column, HEIGHT - 1 - row);
                    case 5 -> photo(row, column);
                    case 6 -> photo(WIDTH - 1 - row, column);
                    case 7 -> photo(WIDTH - 1 - row, HEIGHT - 1 - column);
                    case 8 -> photo(row, HEIGHT - 1 - column);
                    default -> throw new IllegalArgumentException("orientation " + orientation);
                });
            }
        }
        return stored;
    }

    /** Red grows to the right, green downwards; no turn or mirror of it is itself. */
    private static int photo(int x, int y) {
        return (40 + 10 * (x / BLOCK)) << 16 | (30 + 15 * (y / BLOCK)) << 8 | (x / BLOCK * 31 + y / BLOCK * 17) % 200;
    }

    private static byte[] jpeg(BufferedImage image, boolean progressive) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(file)) {
            ImageWriteParam how = writer.getDefaultWriteParam();
            how.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            how.setCompressionQuality(0.95f);
            if (progressive) {
                how.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
            }
            IIOMetadata metadata = writer.getDefaultImageMetadata(ImageTypeSpecifier.createFromRenderedImage(image), how);
            IIOMetadataNode tree = (IIOMetadataNode) metadata.getAsTree(JPEG);
            fullChroma(tree);
            metadata.setFromTree(JPEG, tree);
            writer.setOutput(out);
            writer.write(metadata, new IIOImage(image, null, metadata), how);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            writer.dispose();
        }
        return file.toByteArray();
    }

    private static void fullChroma(IIOMetadataNode tree) {
        NodeList components = tree.getElementsByTagName("componentSpec");
        for (int i = 0; i < components.getLength(); i++) {
            Node component = components.item(i);
            component.getAttributes().getNamedItem("HsamplingFactor").setNodeValue("1");
            component.getAttributes().getNamedItem("VsamplingFactor").setNodeValue("1");
        }
    }

    private static byte[] withOrientation(byte[] jpeg, int orientation) {
        ByteBuffer exif = ByteBuffer.allocate(36).putShort((short) 0xffe1).putShort((short) 34).put("Exif\0\0".getBytes(StandardCharsets.US_ASCII))
                .put("MM\0*".getBytes(StandardCharsets.US_ASCII)).putInt(8)
                .putShort((short) 1).putShort((short) 0x0112).putShort((short) 3).putInt(1).putShort((short) orientation);
        return ByteBuffer.allocate(jpeg.length + 36).put(jpeg, 0, 2).put(exif.array()).put(jpeg, 2, jpeg.length - 2).array();
    }
}
