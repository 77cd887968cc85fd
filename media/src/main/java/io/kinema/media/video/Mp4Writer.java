package io.kinema.media.video;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.FFmpegException;
import io.kinema.media.ffmpeg.Handles;
import io.kinema.media.ffmpeg.Muxer;
import io.kinema.media.file.AtomicFile;
import io.kinema.media.file.WriteTarget;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Owns an MP4 file being written (H.264 yuv420p and stereo AAC), its encoders and its temporary file.
 *
 * <p>Pictures and sound are encoded as they arrive, in any order between the two, so encoding can run while later frames are still
 * being decoded. {@link #commit} finishes the file and moves it into place; closing without it leaves nothing behind. Both
 * streams start at zero, the index stands before the media ("faststart"), and the same input gives the same bytes. For one
 * thread at a time. Closing twice is harmless.
 *
 * <p>Codecs of the LGPL build of FFmpeg: pictures by {@code libopenh264} (see {@link H264Track}), sound by FFmpeg's own
 * {@code aac} (see {@link AacTrack}).
 */
public final class Mp4Writer implements AutoCloseable {

    private final Path target;
    private final Mp4Format format;
    private final Optional<AtomicFile> file;
    private final Handles handles = new Handles();
    private Muxer muxer;
    private H264Track video;
    private AacTrack sound;
    private boolean ended;

    private Mp4Writer(Path target, Mp4Format format, Optional<AtomicFile> file) {
        this.target = target;
        this.format = format;
        this.file = file;
    }

    /**
     * Starts a file beside {@code target}.
     *
     * @throws BadMediaException if {@code target} cannot be written
     */
    public static Mp4Writer open(Path target, Mp4Format format) {
        AtomicFile file = AtomicFile.create(target);
        return start(new Mp4Writer(target, format, Optional.of(file)), file.channel());
    }

    /** Writes to a channel that stays the caller's, and never renames anything; {@code name} is for messages. */
    static Mp4Writer open(SeekableByteChannel channel, Path name, Mp4Format format) {
        return start(new Mp4Writer(name, format, Optional.empty()), channel);
    }

    private static Mp4Writer start(Mp4Writer writer, SeekableByteChannel channel) {
        try {
            writer.openTracks(channel);
            return writer;
        } catch (RuntimeException e) {
            writer.close();
            throw writer.explained(e);
        }
    }

    private void openTracks(SeekableByteChannel channel) {
        muxer = handles.add(Muxer.open("mp4", channel, new TreeMap<>(format.metadata())));
        video = handles.add(H264Track.open(muxer, format));
        sound = handles.add(AacTrack.open(muxer, format));
        muxer.start(Map.of("movflags", "use_metadata_tags", "moov_size", Integer.toString(indexBytes())));
    }

    /** Room kept for the index in front of the media, so that the file need not be read and moved when it is finished. */
    private int indexBytes() {
        int text = format.metadata().entrySet().stream().mapToInt(e -> 64 + 4 * (e.getKey().length() + e.getValue().length())).sum();
        long soundPackets = (long) format.frames() * format.sampleRate() / format.frameRate() / 1024 + 8;
        return Math.toIntExact(4096 + text + 24L * format.frames() + 24L * soundPackets);
    }

    /**
     * Encodes the next picture.
     *
     * @param rgb bytes in the order row, column, red-green-blue
     * @param offset where the picture begins
     * @throws IllegalStateException after {@link #commit} or {@link #close}, or when all pictures are there
     * @throws IndexOutOfBoundsException if {@code rgb} does not hold a whole picture from {@code offset} on
     */
    public void writeFrame(byte[] rgb, int offset) {
        requireOpen();
        // Checked here because the copy into native memory is not.
        Objects.checkFromIndexSize(offset, 3 * format.width() * format.height(), rgb.length);
        if (video.frames() == format.frames()) {
            throw new IllegalStateException("All " + format.frames() + " pictures of '" + target + "' are written already.");
        }
        attempt(() -> video.write(rgb, offset));
    }

    /** Encodes the next picture, which begins at byte 0 of {@code rgb}. */
    public void writeFrame(byte[] rgb) {
        writeFrame(rgb, 0);
    }

    /**
     * Encodes the next stretch of sound.
     *
     * @param left samples in [-1, 1]; values outside are clamped
     * @param right the same number of samples
     * @throws IllegalArgumentException if the lengths differ or a sample is not a number
     */
    public void writeAudio(float[] left, float[] right) {
        requireOpen();
        attempt(() -> sound.write(left, right));
    }

    /**
     * Finishes the file and puts it in its place.
     *
     * @throws IllegalStateException if pictures are missing; the file is then given up
     * @throws BadMediaException if the file cannot be written, for instance for want of space
     */
    public void commit() {
        requireOpen();
        if (video.frames() != format.frames()) {
            close();
            throw new IllegalStateException("Only " + video.frames() + " of the " + format.frames() + " pictures of '" + target
                    + "' were written.");
        }
        attempt(() -> {
            video.finish();
            sound.finish();
            muxer.finish();
        });
        file.ifPresent(AtomicFile::commit);
        close();
    }

    @Override
    public void close() {
        ended = true;
        handles.close();
        file.ifPresent(AtomicFile::close);
    }

    private void requireOpen() {
        if (ended) {
            throw new IllegalStateException("The MP4 writer of '" + target + "' is closed.");
        }
    }

    private void attempt(Runnable step) {
        try {
            step.run();
            // FFmpeg may go on after a failed write and only report it at the end.
            muxer.failure().ifPresent(e -> {
                throw failure(e);
            });
        } catch (FFmpegException e) {
            RuntimeException explained = explained(e);
            close();
            throw explained;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private RuntimeException explained(RuntimeException e) {
        // Opening can fail before there is a muxer; then the channel was not touched yet.
        Optional<IOException> cause = Optional.ofNullable(muxer).flatMap(Muxer::failure);
        return cause.map(this::failure).map(RuntimeException.class::cast).orElse(e);
    }

    private BadMediaException failure(IOException e) {
        return WriteTarget.failure(target, e);
    }
}
