package io.kinema.media.ffmpeg;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.ffmpeg.avformat.AVIOContext;
import org.bytedeco.ffmpeg.avformat.Read_packet_Pointer_BytePointer_int;
import org.bytedeco.ffmpeg.avformat.Seek_Pointer_long_int;
import org.bytedeco.ffmpeg.avformat.Write_packet_Pointer_BytePointer_int;
import org.bytedeco.ffmpeg.global.avformat;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;

/**
 * Owns FFmpeg's view of a Java channel: its buffer and its input/output context; the channel stays the caller's.
 *
 * <p>FFmpeg is given no path, so any name that Java can open works, an {@link IOException} keeps its own words (see
 * {@link #failure}), and nothing but this channel can be reached. Closing twice is harmless.
 */
public final class ChannelIo implements AutoCloseable {

    private static final int BUFFER_BYTES = 64 * 1024;

    /** Channels in use by the address of their native identity: JavaCPP has room for only a few callback objects, so all share. */
    private static final Map<Long, ChannelIo> OPEN = new ConcurrentHashMap<>();

    private final SeekableByteChannel channel;
    private final Pointer identity;
    private AVIOContext context;
    private IOException failure;

    private ChannelIo(SeekableByteChannel channel, boolean writing) {
        FFmpeg.load();
        this.channel = channel;
        this.identity = FFmpeg.allocated(avutil.av_malloc(1), "a channel's identity");
        OPEN.put(identity.address(), this);
        BytePointer buffer = new BytePointer(FFmpeg.allocated(avutil.av_malloc(BUFFER_BYTES), "an input/output buffer"));
        this.context = avformat.avio_alloc_context(buffer, BUFFER_BYTES, writing ? 1 : 0, identity,
                writing ? null : Callbacks.READ, writing ? Callbacks.WRITE : null, Callbacks.SEEK);
        FFmpeg.allocated(context, "an input/output context");
    }

    public static ChannelIo reading(SeekableByteChannel channel) {
        return new ChannelIo(channel, false);
    }

    public static ChannelIo writing(SeekableByteChannel channel) {
        return new ChannelIo(channel, true);
    }

    /** The native context; valid until {@link #close}. */
    public AVIOContext context() {
        return context;
    }

    /** The first exception of the channel, if it had one; FFmpeg itself only knows that something failed. */
    public Optional<IOException> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public void close() {
        if (context == null) {
            return;
        }
        OPEN.remove(identity.address());
        // FFmpeg may have replaced the buffer it was given, so the one it holds now is freed.
        avutil.av_free(context.buffer());
        avformat.avio_context_free(context);
        avutil.av_free(identity);
        context = null;
    }

    private int read(BytePointer target, int size) {
        try {
            int count = channel.read(bytes(target, size));
            return count <= 0 ? avutil.AVERROR_EOF : count;
        } catch (IOException e) {
            return fail(e);
        }
    }

    private int write(BytePointer source, int size) {
        try {
            ByteBuffer bytes = bytes(source, size);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            return size;
        } catch (IOException e) {
            return fail(e);
        }
    }

    private long seek(long offset, int whence) {
        try {
            int how = whence & ~avformat.AVSEEK_FORCE;
            if (how == avformat.AVSEEK_SIZE) {
                return channel.size();
            }
            long base = switch (how) {
                case 0 -> 0;
                case 1 -> channel.position();
                case 2 -> channel.size();
                default -> -1;
            };
            if (base < 0 || base + offset < 0) {
                return FFmpeg.EINVAL;
            }
            channel.position(base + offset);
            return base + offset;
        } catch (IOException e) {
            return fail(e);
        }
    }

    private int fail(IOException e) {
        if (failure == null) {
            failure = e;
        }
        return FFmpeg.EIO;
    }

    private static ByteBuffer bytes(BytePointer pointer, int size) {
        return pointer.capacity(size).asByteBuffer();
    }

    private static ChannelIo of(Pointer identity) {
        return OPEN.get(identity.address());
    }

    /** Called from native code; an exception must not cross it, so each returns an error code instead. */
    private static final class Callbacks {

        static final Read_packet_Pointer_BytePointer_int READ = new Read_packet_Pointer_BytePointer_int() {
            @Override
            public int call(Pointer identity, BytePointer target, int size) {
                return of(identity).read(target, size);
            }
        };

        static final Write_packet_Pointer_BytePointer_int WRITE = new Write_packet_Pointer_BytePointer_int() {
            @Override
            public int call(Pointer identity, BytePointer source, int size) {
                return of(identity).write(source, size);
            }
        };

        static final Seek_Pointer_long_int SEEK = new Seek_Pointer_long_int() {
            @Override
            public long call(Pointer identity, long offset, int whence) {
                return of(identity).seek(offset, whence);
            }
        };
    }
}
