package io.kinema.media.ffmpeg;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bytedeco.ffmpeg.avutil.AVDictionary;
import org.bytedeco.ffmpeg.avutil.AVDictionaryEntry;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.BytePointer;

/** Owns an FFmpeg dictionary of string options; closing twice is harmless. */
final class Options implements AutoCloseable {

    private final AVDictionary dictionary = new AVDictionary(null);

    Options(Map<String, String> entries) {
        entries.forEach(this::set);
    }

    /** The native dictionary; functions that consume options leave the ones they did not know in it. */
    AVDictionary dictionary() {
        return dictionary;
    }

    /** @throws IllegalArgumentException if an option was not consumed, which means that its name is misspelt */
    void requireAllUsed(String by) {
        if (!dictionary.isNull()) {
            var first = avutil.av_dict_iterate(dictionary, null);
            if (first != null) {
                throw new IllegalArgumentException(by + " has no option '" + first.key().getString() + "'.");
            }
        }
    }

    /** The entries of any dictionary, which may be null. */
    static SortedMap<String, String> entries(AVDictionary dictionary) {
        SortedMap<String, String> entries = new TreeMap<>();
        if (dictionary == null || dictionary.isNull()) {
            return entries;
        }
        for (AVDictionaryEntry e = avutil.av_dict_iterate(dictionary, null); e != null && !e.isNull(); e = avutil.av_dict_iterate(dictionary, e)) {
            entries.put(text(e.key()), text(e.value()));
        }
        return entries;
    }

    private static String text(BytePointer utf8) {
        return utf8 == null || utf8.isNull() ? "" : utf8.getString(StandardCharsets.UTF_8);
    }

    private void set(String key, String value) {
        set(dictionary, key, value);
    }

    /** Adds a UTF-8 entry to any dictionary. */
    static void set(AVDictionary dictionary, String key, String value) {
        try (BytePointer k = utf8(key); BytePointer v = utf8(value)) {
            FFmpeg.check(avutil.av_dict_set(dictionary, k, v, 0), "setting the option " + key);
        }
    }

    private static BytePointer utf8(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        BytePointer pointer = new BytePointer(bytes.length + 1L);
        pointer.put(bytes, 0, bytes.length);
        return pointer.put(bytes.length, (byte) 0);
    }

    @Override
    public void close() {
        avutil.av_dict_free(dictionary);
    }
}
