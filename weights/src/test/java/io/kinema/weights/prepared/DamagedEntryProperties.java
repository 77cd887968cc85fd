package io.kinema.weights.prepared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever happens to an entry's files, who asks for it gets the bits that were put, or makes them anew. */
class DamagedEntryProperties {
    private static final Map<String, String> EXPECTED = CacheChild.expected();
    private static final List<String> FILES = List.of("weights.bin", "manifest.json", "ready.json");
    private static Path temp;
    private static PreparedCache cache;
    private static PreparedKey key;

    @BeforeContainer
    static void build() throws IOException {
        temp = Files.createTempDirectory("damaged-entry");
        cache = new PreparedCache(temp.resolve("cache"), CacheLimits.DEFAULTS);
        key = CacheChild.key(Files.writeString(temp.resolve("source"), "weights"));
    }

    @AfterContainer
    static void remove() throws IOException {
        Files.walkFileTree(temp, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, IOException failure) throws IOException {
                Files.delete(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Times are put back as they were, as a tool that copies or restores files does. */
    @Property(tries = 150)
    void aByteOfAnyFileIsChanged(@ForAll @IntRange(max = 2) int which, @ForAll @DoubleRange(max = 1, maxIncluded = false) double place,
                                 @ForAll @IntRange(min = 1, max = 255) int bits) throws IOException {
        Path file = whole().resolve(FILES.get(which));
        FileTime time = Files.getLastModifiedTime(file);
        byte[] bytes = Files.readAllBytes(file);
        bytes[(int) (place * bytes.length)] ^= (byte) bits;
        Files.write(file, bytes, StandardOpenOption.WRITE);
        Files.setLastModifiedTime(file, time);
        assertThat(CacheChild.want(cache, key).hashes()).isEqualTo(EXPECTED);
        assertThat(which == 0 || which == 1 ? cache.entries(true).getFirst().broken() : Optional.empty()).isEmpty();
    }

    @Property(tries = 60)
    void anyFileIsCutOrGrowsOrGoes(@ForAll @IntRange(max = 2) int which, @ForAll @DoubleRange(max = 1.2) double share) throws IOException {
        Path file = whole().resolve(FILES.get(which));
        byte[] bytes = Files.readAllBytes(file);
        int length = (int) (share * bytes.length);
        if (length == 0) {
            Files.delete(file);
        } else {
            Files.write(file, Arrays.copyOf(bytes, length));
        }
        CacheChild.Outcome next = CacheChild.want(cache, key);
        assertThat(next.hashes()).isEqualTo(EXPECTED);
        assertThat(next.how()).isEqualTo(length == bytes.length ? "found" : "built");
    }

    private static Path whole() {
        assertThat(CacheChild.want(cache, key).hashes()).isEqualTo(EXPECTED);
        return cache.folder().resolve("entry-" + key.id());
    }
}
