package io.kinema.media;

import io.kinema.media.ffmpeg.FFmpeg;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.ffmpeg.avcodec.AVCodec;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.Loader;

/**
 * What the media room found on this machine.
 *
 * @param version of FFmpeg
 * @param license of the FFmpeg build
 * @param videoEncoder name and description of the encoder that writes pictures, or that it is missing
 * @param audioEncoder name and description of the encoder that writes sound, or that it is missing
 * @param missing names of encoders and decoders that this build lacks; empty when all is well
 * @param libraries folder the libraries were loaded from
 */
public record MediaFacts(String version, String license, String videoEncoder, String audioEncoder, List<String> missing, Path libraries) {

    private static final List<String> ENCODERS = List.of("libopenh264", "aac");
    private static final List<String> DECODERS = List.of("png", "webp", "h264", "hevc", "vp9", "aac", "opus", "flac");

    public MediaFacts {
        missing = List.copyOf(missing);
    }

    /**
     * Loads FFmpeg and asks it.
     *
     * @throws IllegalStateException if it does not load on this machine
     */
    public static MediaFacts read() {
        FFmpeg.load();
        List<String> missing = Stream.concat(ENCODERS.stream().filter(n -> absent(avcodec.avcodec_find_encoder_by_name(n))),
                DECODERS.stream().filter(n -> absent(avcodec.avcodec_find_decoder_by_name(n)))).toList();
        return new MediaFacts(avutil.av_version_info().getString(), avcodec.avcodec_license().getString(), encoder(ENCODERS.getFirst()),
                encoder(ENCODERS.getLast()), missing, Path.of(Loader.load(avcodec.class)).getParent());
    }

    private static String encoder(String name) {
        AVCodec codec = avcodec.avcodec_find_encoder_by_name(name);
        return absent(codec) ? name + " (missing)" : name + " (" + codec.long_name().getString() + ")";
    }

    private static boolean absent(AVCodec codec) {
        return codec == null || codec.isNull();
    }
}
