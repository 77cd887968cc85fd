package io.kinema.media.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Fixtures: coded by libheif 1.15; the grid is four of its 64x64 pictures put into one file of 120x100 by hand, with a rotation and
 * a mirroring that do nothing until a test sets them; what it shows was read by libheif.
 */
class HeifPicturesTest {

    /** Mean difference of a value: libheif spreads the halved colour in another way, along edges only. */
    private static final double CLOSE = 1.0;

    @ParameterizedTest
    @CsvSource({"heic-single.heic, heif-original.png", "avif.avif, heif-original.png", "heic-grid.heic, heic-grid.heic.expected.png"})
    void showsWhatWasStored(String file, String expected) {
        RgbImage picture = decode(fixture(file));
        assertThat(meanDifference(picture, ImageReader.decode(fixture(expected), expected, ImageLimits.DEFAULT))).isLessThan(CLOSE);
    }

    /** ISO/IEC 23008-12: turn counterclockwise by a quarter so many times, then mirror; libheif does the same. */
    @ParameterizedTest
    @CsvSource({"0, 0, FLIP_VERTICALLY", "0, 1, FLIP_HORIZONTALLY", "1, 0, TRANSPOSE", "1, 1, TRANSVERSE", "2, 0, FLIP_HORIZONTALLY",
            "2, 1, FLIP_VERTICALLY", "3, 0, TRANSVERSE", "3, 1, TRANSPOSE"})
    void isTurnedAndMirroredAsTheFileSays(int turns, int axis, Orientation expected) {
        byte[] file = fixture("heic-grid.heic");
        byte[] plain = without(without(file, "irot"), "imir");
        RgbImage shown = decode(with(with(file, "irot", turns), "imir", axis));
        assertThat(Arrays.equals(shown.rgb(), expected.apply(decode(plain)).rgb())).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"1, TURN_COUNTERCLOCKWISE", "2, TURN_HALF", "3, TURN_CLOCKWISE"})
    void isTurnedAlone(int turns, Orientation expected) {
        byte[] file = without(fixture("heic-grid.heic"), "imir");
        assertThat(Arrays.equals(decode(with(file, "irot", turns)).rgb(), expected.apply(decode(without(file, "irot"))).rgb())).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"heic-single.heic", "avif.avif", "heic-grid.heic"})
    void whatIsCutOffIsRefused(String name) {
        byte[] file = fixture(name);
        for (int length = 16; length < file.length; length += file.length / 7) {
            byte[] part = Arrays.copyOf(file, length);
            assertThatThrownBy(() -> decode(part)).as("%s of %d bytes", name, part.length).isInstanceOf(BadMediaException.class)
                    .hasMessageContaining("'a.heic'");
        }
    }

    @Test
    void sizesAreRefusedByTheHeader() {
        byte[] file = fixture("heic-single.heic");
        ByteBuffer.wrap(file).putInt(find(file, "ispe") + 8, 100_000).putInt(find(file, "ispe") + 12, 100_000);
        assertThatThrownBy(() -> decode(file)).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("100000x100000, more than");
    }

    @Test
    void aTileOfAnotherSizeThanItsHeaderSaysIsRefused() {
        byte[] file = fixture("heic-grid.heic");
        ByteBuffer.wrap(file).putInt(find(file, "ispe") + 8, 72);
        assertThatThrownBy(() -> decode(file)).isInstanceOf(BadMediaException.class).hasMessageContaining("is damaged");
    }

    @Test
    void whatMustBeUnderstoodAndIsNotIsRefused() {
        byte[] file = renamed(fixture("heic-grid.heic"), "irot", "clap");
        assertThatThrownBy(() -> decode(file)).isInstanceOf(BadMediaException.class).hasMessageContaining("needs the property 'clap'");
    }

    /** Every box of every file once with every length of 0, 1, one too many and the most: refused or read, never anything else. */
    @ParameterizedTest
    @ValueSource(strings = {"heic-single.heic", "avif.avif", "heic-grid.heic"})
    void wrongNumbersAreRefusedOrRead(String name) {
        byte[] whole = fixture(name);
        int boxes = find(whole, "mdat");
        for (int at = 8; at < boxes; at++) {
            for (int value : new int[] {0, 1, 0x7f, 0x80, 0xff}) {
                byte[] file = whole.clone();
                file[at] = (byte) value;
                try {
                    decode(file);
                } catch (BadMediaException e) {
                    assertThat(e).hasMessageContaining("'a.heic'");
                }
            }
        }
    }

    private static RgbImage decode(byte[] file) {
        return ImageReader.decode(file, "'a.heic'", ImageLimits.DEFAULT);
    }

    private static byte[] fixture(String name) {
        try (InputStream in = HeifPicturesTest.class.getResourceAsStream("/heif/" + name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The file with this value in the one-byte property {@code box}. */
    private static byte[] with(byte[] file, String box, int value) {
        byte[] copy = file.clone();
        copy[find(copy, box) + 4] = (byte) value;
        return copy;
    }

    /** The file with a property that changes nothing in the place of {@code box}. */
    private static byte[] without(byte[] file, String box) {
        return renamed(file, box, "pasp");
    }

    private static byte[] renamed(byte[] file, String box, String other) {
        byte[] copy = file.clone();
        System.arraycopy(other.getBytes(StandardCharsets.US_ASCII), 0, copy, find(copy, box), 4);
        return copy;
    }

    private static int find(byte[] file, String box) {
        return new String(file, StandardCharsets.ISO_8859_1).indexOf(box);
    }

    private static double meanDifference(RgbImage a, RgbImage b) {
        assertThat(a.toString()).isEqualTo(b.toString());
        long sum = 0;
        for (int i = 0; i < a.rgb().length; i++) {
            sum += Math.abs((a.rgb()[i] & 0xff) - (b.rgb()[i] & 0xff));
        }
        return (double) sum / a.rgb().length;
    }
}
