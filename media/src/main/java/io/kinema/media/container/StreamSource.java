package io.kinema.media.container;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.Decoder;
import io.kinema.media.ffmpeg.Demuxer;
import io.kinema.media.ffmpeg.FFmpeg;
import io.kinema.media.ffmpeg.FFmpegException;
import io.kinema.media.ffmpeg.Handles;
import io.kinema.media.file.ReadSource;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.bytedeco.ffmpeg.avcodec.AVCodec;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;

/** Owns an open media file, one of its streams and the decoder of that stream; closing twice is harmless. */
public final class StreamSource implements AutoCloseable {

    /** FFmpeg rounds the sides of its buffers up, and some decoders keep a wide edge around the picture. */
    private static final int PADDING = 256;

    private final String name;
    private final MediaLimits limits;
    private final WorkBudget budget;
    private final Handles handles;
    private final Demuxer demuxer;
    private final AVStream stream;
    private final Decoder decoder;
    private int packets;
    private boolean ended;

    private StreamSource(String name, MediaLimits limits, WorkBudget budget, Handles handles, Demuxer demuxer, AVStream stream, Decoder decoder) {
        this.name = name;
        this.limits = limits;
        this.budget = budget;
        this.handles = handles;
        this.demuxer = demuxer;
        this.stream = stream;
        this.decoder = decoder;
    }

    /**
     * Opens the best stream of a kind; empty if the file has none.
     *
     * @param mediaType {@code AVMEDIA_TYPE_VIDEO} or {@code AVMEDIA_TYPE_AUDIO}
     * @throws BadMediaException if the file is missing, too large, of no known kind, or damaged at its start
     */
    public static Optional<StreamSource> open(Path file, int mediaType, MediaLimits limits) {
        String name = "'" + file + "'";
        WorkBudget budget = new WorkBudget(name, limits.maxWork(), System::nanoTime);
        Handles handles = new Handles();
        try {
            Optional<StreamSource> source = explaining(name, budget, () -> {
                SeekableByteChannel channel = handles.add(new BudgetedChannel(channel(file, limits), budget));
                return open(channel, name, budget, handles, mediaType, limits);
            });
            if (source.isEmpty()) {
                handles.close();
            }
            return source;
        } catch (RuntimeException | Error e) {
            handles.close();
            throw e;
        }
    }

    private static FileChannel channel(Path file, MediaLimits limits) {
        try {
            if (Files.isDirectory(file)) {
                throw new BadMediaException("The file '" + file + "' is a folder; give a video or sound file.");
            }
            ReadSource.requirePlain(file);
            long size = Files.size(file);
            if (size == 0 || size > limits.maxBytes()) {
                throw new BadMediaException("The file '" + file + "' has " + size + " bytes; expected 1 to "
                        + limits.maxBytes() + ".");
            }
            return FileChannel.open(file);
        } catch (NoSuchFileException e) {
            throw new BadMediaException("The file '" + file + "' does not exist.", e);
        } catch (IOException e) {
            throw new BadMediaException("The file '" + file + "' cannot be read: " + e.getMessage() + ".", e);
        }
    }

    private static Optional<StreamSource> open(SeekableByteChannel channel, String name, WorkBudget budget, Handles handles, int mediaType,
            MediaLimits limits) {
        FFmpeg.load();
        Demuxer demuxer = handles.add(Demuxer.open(container(channel, name, budget), Containers.decoders(), limits.maxPixels(), channel));
        demuxer.seconds().filter(s -> s > limits.maxSeconds()).ifPresent(s -> {
            throw new BadMediaException("The file " + name + " lasts " + s + " s; expected at most " + limits.maxSeconds()
                    + "; cut it first.");
        });
        return demuxer.stream(mediaType).map(stream -> {
            demuxer.only(stream);
            HeaderChecks.check(name, stream, demuxer, limits);
            return new StreamSource(name, limits, budget, handles, demuxer, stream, handles.add(decoder(name, stream)));
        });
    }

    private static String container(SeekableByteChannel channel, String name, WorkBudget budget) {
        try {
            String container = Containers.of(channel, name);
            if (container.equals(Containers.WEBM)) {
                WebmLength.requireWhole(channel, name);
            }
            return container;
        } catch (IOException e) {
            throw budget.isSpent() ? budget.exhausted() : new BadMediaException("The file " + name + " cannot be read: " + e.getMessage() + ".", e);
        }
    }

    private static Decoder decoder(String name, AVStream stream) {
        boolean picture = stream.codecpar().codec_type() == avutil.AVMEDIA_TYPE_VIDEO;
        long width = stream.codecpar().width();
        long height = stream.codecpar().height();
        AVCodec codec = avcodec.avcodec_find_decoder(stream.codecpar().codec_id());
        String decoder = codec == null || codec.isNull() ? "" : codec.name().getString();
        if (!Containers.mayDecode(decoder)) {
            throw new BadMediaException("The file " + name + " is coded as "
                    + avcodec.avcodec_get_name(stream.codecpar().codec_id()).getString()
                    + ", which is not supported; convert it to " + (picture ? "H.264" : "AAC or 16-bit WAV") + ".");
        }
        return Decoder.open(decoder, (width + PADDING) * (height + PADDING), context ->
                FFmpeg.check(avcodec.avcodec_parameters_to_context(context, stream.codecpar()), "describing a stream"));
    }

    /** The native stream; valid until {@link #close}. */
    public AVStream stream() {
        return stream;
    }

    /**
     * Decodes one more packet, or what the decoder still held; false when there is nothing left. A frame is the decoder's, valid
     * during the call of {@code sink} only.
     *
     * @throws BadMediaException if the file is damaged
     */
    public boolean advance(Consumer<AVFrame> sink) {
        if (ended) {
            return false;
        }
        explaining(name, budget, () -> {
            Optional<AVPacket> packet = demuxer.next(stream);
            if (packet.isPresent()) {
                packets++;
                requireWhole(packet.get());
                requireFew();
                decoder.decode(packet.get(), sink);
            } else {
                ended = true;
                requireAll();
                decoder.finish(sink);
            }
            return packet;
        });
        return true;
    }

    private void requireWhole(AVPacket packet) {
        if ((packet.flags() & avcodec.AV_PKT_FLAG_CORRUPT) != 0) {
            throw new BadMediaException("The file " + name + " is damaged or cut off in packet " + packets + "; export it again.");
        }
    }

    /** A container need not say how many there are. */
    private void requireFew() {
        if (packets > limits.maxFrames() && stream.codecpar().codec_type() == avutil.AVMEDIA_TYPE_VIDEO) {
            throw HeaderChecks.tooManyFrames(name, "more than " + limits.maxFrames(), limits);
        }
    }

    /** A file that was cut off ends like any other; only its index tells. */
    private void requireAll() {
        int promised = demuxer.indexed(stream);
        if (packets < promised) {
            throw new BadMediaException("The file " + name + " is cut off: " + packets + " of " + promised
                    + " packets are there; export it again.");
        }
    }

    /** Whether the container's own index gives every packet its time, so that its frame rate is an average and not a wish. */
    public boolean isTimed() {
        return demuxer.indexed(stream) > 0;
    }

    /**
     * Packets for each second between the first and the last, by reading all that are left without decoding them; not a number
     * if they do not tell. The source is at its end then.
     */
    public double packetRate() {
        long count = 0;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (Optional<AVPacket> packet = nextPacket(); packet.isPresent(); packet = nextPacket()) {
            long time = packet.get().pts();
            if (time != avutil.AV_NOPTS_VALUE) {
                count++;
                first = Math.min(first, time);
                last = Math.max(last, time);
            }
        }
        ended = true;
        return count < 2 || last <= first ? Double.NaN : (count - 1) / ((last - first) * avutil.av_q2d(stream.time_base()));
    }

    private Optional<AVPacket> nextPacket() {
        return explaining(name, budget, () -> demuxer.next(stream));
    }

    /** Seconds of a frame on the stream's clock; not a number if the file does not say. */
    public double seconds(AVFrame frame) {
        long time = frame.best_effort_timestamp();
        return time == avutil.AV_NOPTS_VALUE ? Double.NaN : time * avutil.av_q2d(stream.time_base());
    }

    private static <T> T explaining(String name, WorkBudget budget, Supplier<T> step) {
        try {
            return budget.spend(step);
        } catch (FFmpegException e) {
            if (budget.isSpent()) {
                throw budget.exhausted();
            }
            throw new BadMediaException("The file " + name + " is damaged or cut off: FFmpeg says '" + e.reason()
                    + "'; export it again.", e);
        }
    }

    @Override
    public void close() {
        ended = true;
        handles.close();
    }
}
