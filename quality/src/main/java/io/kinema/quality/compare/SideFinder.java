package io.kinema.quality.compare;

import io.kinema.media.BadMediaException;
import io.kinema.media.container.HeaderReader;
import io.kinema.media.container.MediaHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds what belongs to a path: a video, a sound, a picture, a safetensors file, a folder of pictures, or a folder with one clip and
 * what was saved beside it. A file is known by its content, tensors by the name's end.
 */
final class SideFinder {
    private static final String TENSORS = ".safetensors";
    private static final List<String> VIDEOS = List.of(".mp4", ".mov", ".webm");
    private static final List<String> PICTURES = List.of(".png", ".jpg", ".jpeg", ".webp");
    private static final String WAV = ".wav";
    private static final String CLIP = "clip.mp4";

    private SideFinder() {
    }

    /**
     * @param encoded only the file itself, and of a folder only its clip: nothing that was saved beside it
     * @throws BadMediaException when there is nothing that can be compared, or more than one thing
     */
    static Side find(Path given, boolean encoded) {
        if (!Files.exists(given)) {
            throw new BadMediaException("'" + given + "' does not exist; give a clip, a sound, a safetensors file, a folder of frames or a folder of results.");
        }
        return Files.isDirectory(given) ? folder(given, encoded) : file(Side.of(given), given, encoded, false);
    }

    private static Side file(Side side, Path file, boolean encoded, boolean alone) {
        if (endsWith(file, TENSORS)) {
            return side.withTensors(file);
        }
        if (endsWith(file, PICTURES)) {
            return side.withFrames(List.of(file));
        }
        if (!HeaderReader.knows(file)) {
            throw new BadMediaException("'" + file + "' is no video, sound, picture or safetensors file; give one, or a folder of frames or results.");
        }
        MediaHeader header = HeaderReader.read(file, Limits.LONG);
        if (header.video().isEmpty()) {
            return side.withSound(file);
        }
        Side clip = side.withClip(file);
        return encoded ? clip : Companions.of(file, header, alone).join(clip);
    }

    private static Side folder(Path folder, boolean encoded) {
        List<Path> clips = files(folder).stream().filter(f -> endsWith(f, VIDEOS)).toList();
        List<Path> pictures = pictures(folder);
        if (clips.isEmpty() && !pictures.isEmpty()) {
            return Side.of(folder).withFrames(pictures);
        }
        if (clips.isEmpty()) {
            return loose(folder);
        }
        if (clips.size() == 1) {
            return file(Side.of(folder), clips.getFirst(), encoded, true);
        }
        Path named = folder.resolve(CLIP);
        if (clips.contains(named)) {
            return file(Side.of(folder), named, encoded, false).noting("of " + clips.size() + " clips in the folder, " + CLIP + " was taken");
        }
        throw new BadMediaException("'" + folder + "' holds " + clips.size() + " clips (" + names(clips) + "); give one of them.");
    }

    /** Tensors, a sound or one folder of frames without a clip. */
    private static Side loose(Path folder) {
        List<Path> tensors = files(folder).stream().filter(f -> endsWith(f, TENSORS)).toList();
        List<Path> sounds = files(folder).stream().filter(f -> endsWith(f, WAV)).toList();
        List<Path> frames = folders(folder).stream().filter(f -> !pictures(f).isEmpty()).toList();
        if (tensors.size() > 1 || sounds.size() > 1 || frames.size() > 1) {
            throw new BadMediaException("'" + folder + "' holds several things of a kind (" + names(Stream.of(tensors, sounds, frames).flatMap(List::stream).toList())
                    + "); give one of them.");
        }
        if (tensors.isEmpty() && sounds.isEmpty() && frames.isEmpty()) {
            throw new BadMediaException("'" + folder + "' holds no clip, sound, frames or safetensors file; give a folder that does.");
        }
        Side side = Side.of(folder);
        side = tensors.isEmpty() ? side : side.withTensors(tensors.getFirst());
        side = sounds.isEmpty() ? side : side.withSound(sounds.getFirst());
        return frames.isEmpty() ? side : side.withFrames(pictures(frames.getFirst()));
    }

    /** The pictures of a folder: those called frame-NUMBER where there are any, by number; else all, by name. */
    static List<Path> pictures(Path folder) {
        List<Path> all = files(folder).stream().filter(f -> endsWith(f, PICTURES)).toList();
        List<Path> numbered = all.stream().filter(f -> f.getFileName().toString().matches("frame-\\d{1,9}\\.\\w+"))
                .sorted(Comparator.comparingInt(SideFinder::number)).toList();
        return numbered.isEmpty() ? all : numbered;
    }

    private static int number(Path frame) {
        return Integer.parseInt(frame.getFileName().toString().replaceAll("\\D*(\\d+)\\..*", "$1"));
    }

    static List<Path> files(Path folder) {
        return list(folder, Files::isRegularFile);
    }

    static List<Path> folders(Path folder) {
        return list(folder, Files::isDirectory);
    }

    private static List<Path> list(Path folder, Predicate<Path> wanted) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(f -> !f.getFileName().toString().startsWith(".")).filter(wanted).sorted().toList();
        } catch (IOException e) {
            throw new BadMediaException("The folder '" + folder + "' cannot be read: " + e.getMessage() + ".", e);
        }
    }

    private static boolean endsWith(Path file, List<String> suffixes) {
        return suffixes.stream().anyMatch(suffix -> endsWith(file, suffix));
    }

    private static boolean endsWith(Path file, String suffix) {
        return String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT).endsWith(suffix);
    }

    private static String names(List<Path> files) {
        return files.stream().limit(5).map(f -> f.getFileName().toString()).collect(Collectors.joining(", ")) + (files.size() > 5 ? ", ..." : "");
    }
}
