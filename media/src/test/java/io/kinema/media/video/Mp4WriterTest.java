package io.kinema.media.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class Mp4WriterTest {

    private static final int WIDTH = 96;
    private static final int HEIGHT = 64;
    private static final int FRAMES = 22;
    private static final int SAMPLES = 29_600;

    @TempDir
    private Path folder;

    @Test
    void probesAsPromised() throws Exception {
        Path file = write(folder.resolve("a 'b' \"c\".mp4"), FRAMES);
        Probe probe = Probe.of(file);
        assertThat(probe.stream("video")).contains(Map.entry("codec_name", "h264"), Map.entry("pix_fmt", "yuv420p"),
                Map.entry("width", "96"), Map.entry("height", "64"), Map.entry("r_frame_rate", "24/1"),
                Map.entry("avg_frame_rate", "24/1"), Map.entry("start_time", "0.000000"), Map.entry("nb_read_frames", "22"),
                Map.entry("color_space", "bt709"), Map.entry("color_range", "tv"), Map.entry("color_primaries", "bt709"),
                Map.entry("color_transfer", "bt709"));
        assertThat(probe.stream("audio")).contains(Map.entry("codec_name", "aac"), Map.entry("sample_rate", "32000"),
                Map.entry("channels", "2"), Map.entry("start_time", "0.000000"), Map.entry("duration_ts", "29600"));
        assertThat(Double.parseDouble(probe.stream("video").get("duration"))).isCloseTo(FRAMES / 24.0, within(1e-4));
    }

    @Test
    void putsTheIndexBeforeTheMedia() throws IOException {
        assertThat(boxes(Files.readAllBytes(write(folder.resolve("a.mp4"), FRAMES)))).startsWith("ftyp", "moov").endsWith("mdat");
    }

    @Test
    void theIndexOfTheLongestClipFitsInFront() throws Exception {
        Path file = folder.resolve("a.mp4");
        int frames = 362;
        String record = "红".repeat(5000);
        try (Mp4Writer writer = Mp4Writer.open(file, Mp4Format.of(32, 32, frames).withMetadata(Map.of("io.kinema.record", record)))) {
            for (int i = 0; i < frames; i++) {
                byte[] rgb = new byte[32 * 32 * 3];
                Arrays.fill(rgb, (byte) (37 * i));
                writer.writeFrame(rgb);
                writer.writeAudio(new float[1333], new float[1333]);
            }
            writer.commit();
        }
        assertThat(boxes(Files.readAllBytes(file))).startsWith("ftyp", "moov").endsWith("mdat");
        assertThat(Probe.of(file).stream("video")).containsEntry("nb_read_frames", "362");
        assertThat(Probe.of(file).tags()).containsEntry("io.kinema.record", record);
    }

    @Test
    void sameInputGivesTheSameBytes() throws IOException {
        Path first = write(folder.resolve("a.mp4"), FRAMES);
        Path second = write(folder.resolve("b.mp4"), FRAMES);
        assertThat(first).hasSameBinaryContentAs(second);
    }

    @Test
    void soundMayComeFirstOrLast() throws IOException {
        Path soundLast = write(folder.resolve("a.mp4"), FRAMES);
        Path soundFirst = folder.resolve("b.mp4");
        try (Mp4Writer writer = Mp4Writer.open(soundFirst, format(FRAMES))) {
            writer.writeAudio(tone(440), tone(660));
            for (int i = 0; i < FRAMES; i++) {
                writer.writeFrame(picture(i));
            }
            writer.commit();
        }
        assertThat(soundFirst).hasSameBinaryContentAs(soundLast);
    }

    @Test
    void carriesTags() throws Exception {
        Path file = folder.resolve("a.mp4");
        Map<String, String> tags = Map.of("io.kinema.record", "{\"seed\": 7, \"prompt\": \"红球 'x'\"}", "title", "A red circle");
        try (Mp4Writer writer = Mp4Writer.open(file, format(2).withMetadata(tags))) {
            writer.writeFrame(picture(0));
            writer.writeFrame(picture(1));
            writer.writeAudio(new float[2667], new float[2667]);
            writer.commit();
        }
        assertThat(Probe.of(file).tags()).containsAllEntriesOf(tags);
    }

    @Test
    void leavesNothingWhenClosedEarly() {
        Mp4Writer writer = Mp4Writer.open(folder.resolve("a.mp4"), format(FRAMES));
        writer.writeFrame(picture(0));
        writer.close();
        writer.close();
        assertThatThrownBy(() -> writer.writeFrame(picture(1))).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void leavesNothingWhenPicturesAreMissing() {
        try (Mp4Writer writer = Mp4Writer.open(folder.resolve("a.mp4"), format(FRAMES))) {
            writer.writeFrame(picture(0));
            assertThatThrownBy(writer::commit).isInstanceOf(IllegalStateException.class).hasMessageContaining("1 of the 22");
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void leavesNothingWhenASampleIsNotANumber() {
        try (Mp4Writer writer = Mp4Writer.open(folder.resolve("a.mp4"), format(1))) {
            assertThatThrownBy(() -> writer.writeAudio(new float[] {Float.NaN}, new float[1]))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not a number");
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void saysThatTheDiskIsFull() throws IOException {
        for (long room : new long[] {0, 100, 20_000}) {
            try (SeekableByteChannel disk = new SmallDisk(folder.resolve("disk"), room)) {
                assertThatThrownBy(() -> {
                    try (Mp4Writer writer = Mp4Writer.open(disk, Path.of("clip.mp4"), format(FRAMES))) {
                        for (int i = 0; i < FRAMES; i++) {
                            writer.writeFrame(picture(i));
                        }
                        writer.writeAudio(tone(440), tone(660));
                        writer.commit();
                    }
                }).isInstanceOf(BadMediaException.class).hasMessageContaining("clip.mp4").hasMessageContaining("No space left");
            }
        }
    }

    @Test
    void refusesAPictureThatIsTooShort() {
        try (Mp4Writer writer = Mp4Writer.open(folder.resolve("a.mp4"), format(2))) {
            byte[] two = new byte[2 * WIDTH * HEIGHT * 3];
            writer.writeFrame(two, WIDTH * HEIGHT * 3);
            assertThatThrownBy(() -> writer.writeFrame(two, WIDTH * HEIGHT * 3 + 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> writer.writeFrame(new byte[10])).isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void keepsThePictures() {
        Path file = write(folder.resolve("a.mp4"), FRAMES);
        try (VideoReader reader = VideoReader.open(file)) {
            for (int i = 0; i < FRAMES; i++) {
                byte[] expected = picture(i);
                byte[] got = reader.next().orElseThrow().image().rgb();
                double squares = 0;
                for (int k = 0; k < got.length; k++) {
                    squares += Math.pow((got[k] & 0xff) - (expected[k] & 0xff), 2);
                }
                // Halved chroma at the edge of the red disc costs most of this; a picture out of order would be below 20 dB.
                assertThat(10 * Math.log10(255 * 255 / (squares / got.length))).as("PSNR of picture %d", i).isGreaterThan(28);
            }
        }
    }

    @Test
    void refusesOddAndTinySizes() {
        assertThatThrownBy(() -> Mp4Format.of(33, 64, 5)).isInstanceOf(BadMediaException.class).hasMessageContaining("33x64");
        assertThatThrownBy(() -> Mp4Format.of(64, 8, 5)).isInstanceOf(BadMediaException.class);
        assertThatThrownBy(() -> Mp4Format.of(64, 64, 0)).isInstanceOf(BadMediaException.class);
    }

    private static Mp4Format format(int frames) {
        return Mp4Format.of(WIDTH, HEIGHT, frames);
    }

    private static Path write(Path file, int frames) {
        try (Mp4Writer writer = Mp4Writer.open(file, format(frames))) {
            for (int i = 0; i < frames; i++) {
                writer.writeFrame(picture(i));
            }
            writer.writeAudio(tone(440), tone(660));
            writer.commit();
        }
        return file;
    }

    /** A disc that moves over a gradient. */
    private static byte[] picture(int frame) {
        byte[] rgb = new byte[WIDTH * HEIGHT * 3];
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                boolean disc = Math.hypot(x - 20 - 2 * frame, y - 32) < 12;
                int at = 3 * (y * WIDTH + x);
                rgb[at] = (byte) (disc ? 220 : 2 * x);
                rgb[at + 1] = (byte) (disc ? 40 : 3 * y);
                rgb[at + 2] = (byte) (disc ? 30 : 128);
            }
        }
        return rgb;
    }

    private static float[] tone(double hertz) {
        float[] samples = new float[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            samples[i] = (float) (0.5 * Math.sin(2 * Math.PI * hertz * i / 32_000));
        }
        return samples;
    }

    private static List<String> boxes(byte[] file) {
        List<String> names = new ArrayList<>();
        ByteBuffer bytes = ByteBuffer.wrap(file);
        int at = 0;
        while (at < file.length) {
            names.add(new String(file, at + 4, 4, StandardCharsets.US_ASCII));
            at += bytes.getInt(at);
        }
        return names;
    }

    /** A channel whose disk has room for a few bytes only. */
    private static final class SmallDisk implements SeekableByteChannel {

        private final FileChannel file;
        private final long room;

        SmallDisk(Path path, long room) throws IOException {
            this.file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ,
                    StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.DELETE_ON_CLOSE);
            this.room = room;
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            if (file.position() + source.remaining() > room) {
                throw new IOException("No space left on device");
            }
            return file.write(source);
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return file.read(target);
        }

        @Override
        public long position() throws IOException {
            return file.position();
        }

        @Override
        public SeekableByteChannel position(long position) throws IOException {
            file.position(position);
            return this;
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public SeekableByteChannel truncate(long size) throws IOException {
            file.truncate(size);
            return this;
        }

        @Override
        public boolean isOpen() {
            return file.isOpen();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
