package io.kinema.media.ffmpeg;

import io.kinema.media.file.CacheFolder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avformat;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.ffmpeg.global.swscale;
import org.bytedeco.javacpp.Pointer;

/** Loads the FFmpeg libraries once per process and turns their error codes into exceptions. */
public final class FFmpeg {

    /** Input/output error, and "not now, do the other half first", as FFmpeg spells errno values on Linux. */
    static final int EIO = -5;
    static final int EAGAIN = -11;
    static final int EINVAL = -22;

    private static final int ERROR_TEXT_BYTES = 256;

    /** FFmpeg allocates nothing larger in one piece, whatever a file claims: the largest picture that readers allow has 512 MiB at 16 bits. */
    private static final long LARGEST_ALLOCATION = 576L << 20;

    /** Run by whoever comes first; everyone else waits for that run. */
    private static final FutureTask<Void> LOADING = new FutureTask<>(FFmpeg::loadLibraries, null);

    private FFmpeg() {
    }

    /** Begins loading on a daemon thread and returns at once. */
    public static void preload() {
        if (!LOADING.isDone()) {
            Thread.ofPlatform().daemon().name("kinema-ffmpeg-load").start(LOADING);
        }
    }

    /**
     * Returns when the libraries are loaded.
     *
     * @throws IllegalStateException if this platform has no FFmpeg build on the class path or it does not load
     */
    public static void load() {
        LOADING.run();
        try {
            LOADING.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while the FFmpeg libraries were loading.", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("The FFmpeg libraries do not load on " + System.getProperty("os.name") + " "
                    + System.getProperty("os.arch") + " (" + e.getCause() + "); a build for linux-x86_64 is included.", e.getCause());
        }
    }

    private static void loadLibraries() {
        // JavaCPP reads both once, when it is first used. Its own memory ceiling counts the resident size of the whole process,
        // where model weights live, and would refuse a small frame because of them.
        setIfAbsent("org.bytedeco.javacpp.maxPhysicalBytes", "0");
        setIfAbsent("org.bytedeco.javacpp.cachedir", cacheFolder().toString());
        avutil.av_log_set_level(avutil.AV_LOG_QUIET);
        avutil.av_max_alloc(LARGEST_ALLOCATION);
        avcodec.avcodec_version();
        avformat.avformat_version();
        swscale.swscale_version();
    }

    private static void setIfAbsent(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /** Folder the libraries are unpacked into: {@code native} in the {@link CacheFolder}. */
    public static Path cacheFolder() {
        return CacheFolder.ofUser().resolve("native");
    }

    /**
     * Passes a result on, or fails if it is an error.
     *
     * @param result what an FFmpeg function returned; negative means an error
     * @param doing what was attempted, for the message ("opening the encoder")
     */
    public static int check(int result, String doing) {
        if (result < 0) {
            throw new FFmpegException(doing, result, text(result));
        }
        return result;
    }

    /** Fails if an allocation returned no pointer. */
    public static <P extends Pointer> P allocated(P pointer, String what) {
        if (pointer == null || pointer.isNull()) {
            throw new OutOfMemoryError("FFmpeg could not allocate " + what + ".");
        }
        return pointer;
    }

    private static String text(int error) {
        byte[] buffer = new byte[ERROR_TEXT_BYTES];
        avutil.av_strerror(error, buffer, buffer.length);
        int end = 0;
        while (end < buffer.length && buffer[end] != 0) {
            end++;
        }
        return new String(buffer, 0, end, StandardCharsets.UTF_8);
    }
}
