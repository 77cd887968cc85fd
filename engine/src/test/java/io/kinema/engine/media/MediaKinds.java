package io.kinema.engine.media;

import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.media.MediaKind.Maker;
import io.kinema.engine.media.MediaKind.Role;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Every kind of file of the table in docs/evidence/requests-media.md, and how to make one. */
final class MediaKinds {
    private static final String PICTURE = "-f lavfi -i testsrc2=size=144x96:rate=1 -frames:v 1 ";
    private static final String ALPHA = "-f lavfi -i testsrc2=size=144x96:rate=1:alpha=128,format=rgba -frames:v 1 ";
    private static final Path FIXTURES = GoldenCase.root().resolve("media/src/test/resources/pictures");
    private static final String H264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p ";
    private static final List<String> RATES = List.of("24000/1001", "24", "25", "30000/1001", "50", "60000/1001", "120");

    private final List<MediaKind> kinds = new ArrayList<>();

    /** All kinds; made files come before those derived from them. */
    static List<MediaKind> all() {
        MediaKinds all = new MediaKinds();
        all.pictures();
        all.refusedPictures();
        all.rates();
        all.videos();
        all.refusedVideos();
        all.sounds();
        all.refusedSounds();
        return List.copyOf(all.kinds);
    }

    /** Clips that H3 itself made, from this folder. */
    static List<MediaKind> real(Path folder) {
        MediaKinds real = new MediaKinds();
        real.add("Real clips", Role.VIDEO, "h3-sample-124f.mp4", "a clip that H3 made, 124 frames", 124 / 24.0, copy(folder));
        real.add("Real clips", Role.VIDEO, "h3-sample-8s.mp4", "a clip that H3 made, 8 s", 8, copy(folder));
        real.add("Real clips", Role.SOUND, "h3-sample-124f.m4a", "its sound", 124 / 24.0, target ->
                Files.copy(folder.resolve("h3-sample-124f.mp4"), target));
        return List.copyOf(real.kinds);
    }

    private void pictures() {
        for (String format : List.of("rgb24: 8-bit RGB", "rgb48be: 16-bit RGB", "pal8: palette", "gray: 8-bit gray", "gray16be: 16-bit gray",
                "monob: one bit", "ya8: gray and alpha, laid on white")) {
            String[] parts = format.split(": ");
            picture("png-" + parts[0] + ".png", "PNG, " + parts[1], ffmpeg(PICTURE + "-pix_fmt " + parts[0]));
        }
        picture("png-rgba.png", "PNG, half transparent, laid on white", ffmpeg(ALPHA + "-pix_fmt rgba"));
        picture("png-rgba64.png", "PNG, 16-bit and half transparent", ffmpeg(ALPHA + "-pix_fmt rgba64be"));
        for (int orientation = 1; orientation <= 8; orientation++) {
            byte[] photo = Photos.jpeg(orientation);
            picture("exif-" + orientation + ".jpg", "JPEG, EXIF orientation " + orientation, target -> Files.write(target, photo));
        }
        picture("progressive.jpg", "JPEG, progressive", target -> Files.write(target, Photos.progressiveJpeg()));
        picture("gray.jpg", "JPEG, gray", ffmpeg(PICTURE + "-pix_fmt gray -c:v mjpeg -strict unofficial"));
        picture("cmyk.jpg", "JPEG, CMYK", fixture("jpeg-cmyk.jpg"));
        picture("icc.jpg", "JPEG with an ICC profile, which is not applied", fixture("jpeg-profile.jpg"));
        picture("lossy.webp", "WebP, lossy", ffmpeg(PICTURE + "-c:v libwebp"));
        picture("lossless.webp", "WebP, lossless, half transparent", ffmpeg(ALPHA + "-c:v libwebp -lossless 1"));
        picture("phone.heic", "HEIC as phones store it: a grid of four tiles", fixture("../heif/heic-grid.heic"));
        picture("single.heic", "HEIC, one piece", fixture("../heif/heic-single.heic"));
        picture("a.avif", "AVIF", fixture("../heif/avif.avif"));
        picture("really-a.png", "JPEG that calls itself PNG", target -> Files.write(target, Photos.jpeg(1)));
    }

    private void refusedPictures() {
        picture("cut.heic", "HEIC, all but its first bytes missing", head("ftypheic"));
        picture("a.gif", "GIF", ffmpeg(PICTURE));
        picture("a.bmp", "BMP", ffmpeg(PICTURE));
        picture("a.tiff", "TIFF", ffmpeg(PICTURE));
        picture("list.png", "a playlist that calls itself PNG", text("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n"));
        picture("empty.png", "0 bytes", target -> Files.write(target, new byte[0]));
        picture("cut.png", "PNG, the second half missing", part("png-rgb24.png", 0.5));
        picture("cut.jpg", "JPEG, the second half missing", part("exif-1.jpg", 0.5));
        picture("huge.png", "PNG whose header says 100000x100000", target -> {
            byte[] png = Files.readAllBytes(target.resolveSibling("png-rgb24.png"));
            ByteBuffer.wrap(png).putInt(16, 100_000).putInt(20, 100_000);
            Files.write(target, png);
        });
        picture("dot.png", "PNG of one pixel", target -> PngWriter.write(RgbImage.black(1, 1), target));
        picture("strip.png", "PNG five times as wide as high", ffmpeg("-f lavfi -i testsrc2=size=320x64:rate=1 -frames:v 1 -pix_fmt rgb24"));
    }

    private void rates() {
        for (String rate : RATES) {
            String name = rate.replace("/", "-");
            video("h264-" + name + ".mp4", "MP4, H.264, " + rate + " fps", 2, ffmpeg(moving("64x48", rate, 2) + H264));
            video("vp9-" + name + ".webm", "WebM, VP9, " + rate + " fps", 2, ffmpeg(moving("64x48", rate, 2) + "-c:v libvpx-vp9 -deadline realtime -cpu-used 8"));
        }
        String uneven = moving("64x48", "60", 2) + "-vf select='not(mod(n\\,7))+gt(n\\,60)' -fps_mode vfr ";
        video("variable.mp4", "MP4, H.264, variable: 9 then 60 fps", 2, ffmpeg(uneven + H264));
        video("variable.webm", "WebM, VP8, variable: 9 then 60 fps", 2, ffmpeg(uneven + "-c:v libvpx -deadline realtime"));
        video("variable.mov", "MOV, H.264, variable: 9 then 60 fps", 2, ffmpeg(uneven + H264));
    }

    private void videos() {
        String plain = moving("96x64", "30", 2);
        String tone = "-f lavfi -i sine=duration=2 -shortest -c:a aac -b:a 64k ";
        video("sound.mp4", "MP4, H.264 and AAC", 2, ffmpeg(plain + tone + H264));
        for (int degrees : new int[] {90, 180, 270}) {
            video("turned-" + degrees + ".mp4", "MP4, to be shown turned by " + degrees + " degrees", 2, turned("sound.mp4", degrees));
        }
        video("b-frames.mp4", "MP4, H.264 with B-frames", 2, ffmpeg(plain + "-c:v libx264 -bf 3 -pix_fmt yuv420p"));
        video("edit-list.mp4", "MP4 cut by an edit list, 1.5 s shown", 1.5,
                target -> FfmpegCommand.make("-ss 0.5 -i b-frames.mp4 -c copy", target));
        video("fragmented.mp4", "MP4 in fragments", 2, ffmpeg(plain + H264 + "-g 15 -movflags frag_keyframe+empty_moov"));
        video("hevc-10-bit.mp4", "MP4, H.265, 10-bit", 2, ffmpeg(plain + "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none -tag:v hvc1"));
        video("h264-10-bit.mov", "MOV, H.264, 10-bit", 2, ffmpeg(plain + "-c:v libx264 -pix_fmt yuv420p10le"));
        video("prores.mov", "MOV, ProRes 4:2:2, 10-bit, with PCM", 2, ffmpeg(plain + "-f lavfi -i sine=duration=2 -c:a pcm_s16le -c:v prores"));
        video("mjpeg.mov", "MOV, Motion JPEG", 2, ffmpeg(plain + "-c:v mjpeg -pix_fmt yuvj420p"));
        video("av1.mp4", "MP4, AV1", 2, ffmpeg(moving("64x48", "12", 2) + "-c:v libaom-av1 -cpu-used 8 -usage realtime"));
        video("vp8.webm", "WebM, VP8 and Vorbis", 2, ffmpeg(plain + "-f lavfi -i sine=duration=2 -c:a libvorbis -c:v libvpx -deadline realtime"));
        video("odd.mp4", "MP4, odd sides, 4:4:4", 2, ffmpeg(plain + "-vf scale=97:65 -c:v libx264 -pix_fmt yuv444p"));
        video("a 'b' \"c\" ж.mp4", "MP4, a name with blanks, quotes and another script", 2,
                target -> Files.copy(target.resolveSibling("sound.mp4"), target));
    }

    private void refusedVideos() {
        video("list.mp4", "HLS playlist that calls itself MP4", 0, text("#EXTM3U\n#EXTINF:1,\nsound.mp4\n"));
        video("concat.mp4", "concat script that calls itself MP4", 0, text("ffconcat version 1.0\nfile sound.mp4\n"));
        video("a.avi", "AVI", 0, ffmpeg(moving("64x48", "25", 1) + "-c:v mpeg4"));
        video("a.ts", "MPEG transport stream", 0, ffmpeg(moving("64x48", "25", 1) + H264));
        video("empty.mp4", "0 bytes", 0, target -> Files.write(target, new byte[0]));
        video("no-index.mp4", "MP4 cut off before its index", 0, part("sound.mp4", 0.6));
        video("cut.mp4", "MP4 whose index comes first, the second half missing", 0, target -> {
            Path first = target.resolveSibling("faststart.mp4");
            FfmpegCommand.make("-i sound.mp4 -c copy -movflags +faststart", first);
            part("faststart.mp4", 0.5).write(target);
        });
        video("cut.webm", "WebM, the second half missing", 0, part("vp8.webm", 0.5));
        video("only-sound.mp4", "MP4 without pictures", 0, ffmpeg("-f lavfi -i sine=duration=1 -c:a aac"));
        video("heic.mp4", "HEIC that calls itself MP4", 0, head("ftypheic"));
        video("mpeg4.mp4", "MP4, MPEG-4 part 2, whose decoder can end the process", 0, ffmpeg(moving("64x48", "25", 1) + "-c:v mpeg4"));
        video("qtrle.mov", "MOV of a codec that is not on the list", 0, ffmpeg(moving("64x48", "25", 1) + "-c:v qtrle"));
        video("huge.mp4", "MP4 of 8704x4352", 0, ffmpeg("-f lavfi -i color=size=8704x4352:rate=1 -frames:v 1 " + H264));
        video("long.mp4", "MP4 of 700 s", 0, ffmpeg("-f lavfi -i color=size=16x16:rate=1:duration=700 " + H264));
    }

    private void sounds() {
        for (String coding : List.of("pcm_u8: 8-bit", "pcm_s16le: 16-bit", "pcm_s24le: 24-bit", "pcm_s32le: 32-bit", "pcm_f32le: float", "pcm_f64le: double")) {
            String[] parts = coding.split(": ");
            sound(parts[0] + ".wav", "WAV, " + parts[1] + ", stereo", ffmpeg(tone(2, 44_100) + "-c:a " + parts[0]));
        }
        for (int rate : new int[] {8000, 11_025, 22_050, 32_000, 37_123, 48_000, 96_000, 192_000}) {
            sound("rate-" + rate + ".wav", "WAV, mono, " + rate + " Hz", ffmpeg(tone(1, rate) + "-c:a pcm_s16le"));
        }
        sound("surround.wav", "WAV, 5.1, mixed down", ffmpeg(tone(6, 48_000) + "-c:a pcm_s16le"));
        sound("mono.mp3", "MP3, mono", ffmpeg(tone(1, 44_100) + "-c:a libmp3lame"));
        sound("stereo.mp3", "MP3, stereo, 22050 Hz", ffmpeg(tone(2, 22_050) + "-c:a libmp3lame"));
        sound("stereo.m4a", "AAC in MP4", ffmpeg(tone(2, 44_100) + "-c:a aac"));
        sound("surround.m4a", "AAC in MP4, 5.1, mixed down", ffmpeg(tone(6, 48_000) + "-c:a aac"));
        sound("adts.aac", "AAC without a container", ffmpeg(tone(2, 48_000) + "-c:a aac"));
        sound("stereo.flac", "FLAC, 24-bit, 96000 Hz", ffmpeg(tone(2, 96_000) + "-c:a flac -sample_fmt s32"));
        sound("surround.flac", "FLAC, 5.1, mixed down", ffmpeg(tone(6, 48_000) + "-c:a flac"));
        sound("vorbis.ogg", "Ogg, Vorbis", ffmpeg(tone(2, 44_100) + "-c:a libvorbis"));
        sound("opus.ogg", "Ogg, Opus", ffmpeg(tone(1, 48_000) + "-c:a libopus"));
        sound("alac.m4a", "Apple Lossless", ffmpeg(tone(2, 44_100) + "-c:a alac"));
        add("Sounds", Role.SOUND, "soundtrack.mp4", "the sound of a video, 2 s", 2, target -> Files.copy(target.resolveSibling("sound.mp4"), target));
    }

    private void refusedSounds() {
        refusedSound("seven-one.wav", "WAV, 7.1", ffmpeg(tone(8, 48_000) + "-c:a pcm_s16le"));
        refusedSound("alaw.wav", "WAV, A-law", ffmpeg(tone(1, 8000) + "-c:a pcm_alaw"));
        refusedSound("aiff.aiff", "AIFF", ffmpeg(tone(2, 44_100)));
        refusedSound("empty.wav", "0 bytes", target -> Files.write(target, new byte[0]));
        refusedSound("silent.mp4", "a video without sound", target -> Files.copy(target.resolveSibling("b-frames.mp4"), target));
        refusedSound("cut.wav", "WAV, the second half missing", part("pcm_s16le.wav", 0.5));
        refusedSound("cut.flac", "FLAC, the second half missing", part("stereo.flac", 0.5));
        refusedSound("cut.m4a", "AAC in MP4, the second half missing", part("stereo.m4a", 0.5));
        refusedSound("absurd.wav", "WAV whose header says 1999999973 Hz", header(24, 1_999_999_973));
        refusedSound("many.wav", "WAV whose header says 300 channels", header(22, 300 | 44_100 << 16));
        refusedSound("long.flac", "FLAC of 700 s of silence", ffmpeg("-f lavfi -i anullsrc=r=8000:cl=mono:d=700 -c:a flac"));
        refusedSound("list.mp3", "playlist that calls itself MP3", text("#EXTM3U\nhttp://127.0.0.1/x.mp3\n"));
    }

    private void picture(String name, String what, Maker maker) {
        add("Pictures", Role.PICTURE, name, what, 0, maker);
    }

    private void video(String name, String what, double seconds, Maker maker) {
        add("Videos", Role.VIDEO, name, what, seconds, maker);
    }

    private void sound(String name, String what, Maker maker) {
        add("Sounds", Role.SOUND, name, what, 1, maker);
    }

    private void refusedSound(String name, String what, Maker maker) {
        add("Sounds", Role.SOUND, name, what, 0, maker);
    }

    private void add(String section, Role role, String name, String what, double seconds, Maker maker) {
        kinds.add(new MediaKind(section, role, name, what, seconds, maker));
    }

    private static String moving(String size, String rate, double seconds) {
        return "-f lavfi -i testsrc2=size=" + size + ":rate=" + rate + ":duration=" + seconds + " ";
    }

    private static String tone(int channels, int rate) {
        return String.format(Locale.ROOT, "-f lavfi -i sine=frequency=440:sample_rate=%d:duration=1 -ac %d ", rate, channels);
    }

    private static Maker ffmpeg(String options) {
        return target -> FfmpegCommand.make(options.strip(), target);
    }

    private static Maker fixture(String name) {
        return target -> Files.copy(FIXTURES.resolve(name), target);
    }

    private static Maker copy(Path folder) {
        return target -> Files.copy(folder.resolve(target.getFileName().toString()), target);
    }

    private static Maker text(String content) {
        return target -> Files.writeString(target, content);
    }

    /** A file box that names its brand, and nothing else. */
    private static Maker head(String brand) {
        return target -> Files.write(target, ByteBuffer.allocate(64).putInt(24).put(brand.getBytes(StandardCharsets.US_ASCII)).array());
    }

    private static Maker part(String whole, double share) {
        return target -> {
            byte[] bytes = Files.readAllBytes(target.resolveSibling(whole));
            Files.write(target, Arrays.copyOf(bytes, (int) (bytes.length * share)));
        };
    }

    /** The same film whose track header says that it is to be turned clockwise, as phones do. */
    private static Maker turned(String upright, int degrees) {
        return target -> {
            byte[] film = Files.readAllBytes(target.resolveSibling(upright));
            int matrix = new String(film, StandardCharsets.ISO_8859_1).indexOf("tkhd") + 44;
            int cosine = (int) Math.rint(Math.cos(Math.toRadians(degrees))) << 16;
            int sine = (int) Math.rint(Math.sin(Math.toRadians(degrees))) << 16;
            ByteBuffer.wrap(film).putInt(matrix, cosine).putInt(matrix + 4, sine).putInt(matrix + 12, -sine).putInt(matrix + 16, cosine);
            Files.write(target, film);
        };
    }

    /** A good WAV with one little-endian number of its header changed. */
    private static Maker header(int at, int value) {
        return target -> {
            byte[] wav = Files.readAllBytes(target.resolveSibling("pcm_s16le.wav"));
            ByteBuffer.wrap(wav).order(java.nio.ByteOrder.LITTLE_ENDIAN).putInt(at, value);
            Files.write(target, wav);
        };
    }
}
