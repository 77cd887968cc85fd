package io.kinema.weights.prepared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.kinema.weights.StoredTensor;
import io.kinema.weights.prepared.PreparedCache.EntryFacts;
import io.kinema.weights.prepared.PreparedCache.Lookup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreparedCacheTest {
    private static final Duration NO_PATIENCE = Duration.ZERO;

    @TempDir
    private Path temp;
    private Path source;
    private Path folder;
    private PreparedCache cache;

    @BeforeEach
    void writeSource() throws IOException {
        source = Files.writeString(temp.resolve("model.safetensors"), "weights");
        folder = temp.resolve("cache");
        cache = new PreparedCache(folder, CacheLimits.DEFAULTS);
    }

    @Test
    void whatWasBuiltIsFoundWithItsBits() throws IOException {
        assertThat(want().how()).isEqualTo("built");
        assertThat(want()).isEqualTo(new CacheChild.Outcome("found", CacheChild.expected()));
        assertThat(cache.entries(true)).singleElement().satisfies(facts -> {
            assertThat(facts.label()).isEqualTo("test");
            assertThat(facts.inUse()).isFalse();
            assertThat(facts.broken()).isEmpty();
            assertThat(facts.bytes()).isEqualTo(Files.size(entry().resolve("weights.bin")));
        });
    }

    @Test
    void anyDifferenceIsAnotherEntry() throws IOException {
        PreparedKey key = CacheChild.key(source);
        assertThat(CacheChild.key(source)).isEqualTo(key);
        assertThat(PreparedKey.of("test", Map.of("rounding", "bf16"), List.of(source)).id()).isNotEqualTo(key.id());
        assertThat(PreparedKey.of("other", Map.of("rounding", "f16"), List.of(source)).id()).isNotEqualTo(key.id());
        assertThat(PreparedKey.of("test", Map.of("rounding", "f16"), List.of(source, Files.copy(source, temp.resolve("b")))).id()).isNotEqualTo(key.id());
        FileTime modified = Files.getLastModifiedTime(source);
        Files.writeString(source, "wEights");
        Files.setLastModifiedTime(source, modified);
        assertThat(CacheChild.key(source).id()).as("same size and time, other content").isNotEqualTo(key.id());
    }

    @Test
    void tensorsDieWithTheirEntryAndClosingTwiceIsHarmless() throws IOException {
        want();
        try (HeldEntry held = ((Lookup.Found) look(cache)).entry()) {
            PreparedEntry entry = held.map();
            StoredTensor tensor = entry.find("t0").orElseThrow();
            assertThat(tensor.data().isReadOnly()).isTrue();
            assertThat(tensor.data().address() % PreparedManifest.ALIGNMENT).isZero();
            assertThat(entry.find("t99")).isEmpty();
            assertThat(entry.tensors()).isEqualTo(CacheChild.TENSORS);
            entry.close();
            entry.close();
            assertThatIllegalStateException().isThrownBy(() -> tensor.data().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
        }
    }

    @Test
    void usersOfOneProcessShareAnEntryAndOneOfThemBuildsIt() throws Exception {
        try (EntryWriter writer = ((Lookup.Missing) look(cache)).writer()) {
            CacheChild.put(writer);
            assertThat(look(new PreparedCache(folder, CacheLimits.DEFAULTS))).isInstanceOfSatisfying(Lookup.Unusable.class,
                    unusable -> assertThat(unusable.why()).contains("for 0 s"));
            CountDownLatch waits = new CountDownLatch(1);
            CompletableFuture<Lookup> other = CompletableFuture.supplyAsync(() -> cache.look(key(), Duration.ofMinutes(10), _ -> waits.countDown()));
            waits.await();
            try (PreparedEntry mine = writer.publish().orElseThrow(); HeldEntry held = ((Lookup.Found) other.get()).entry(); PreparedEntry theirs = held.map()) {
                assertThat(CacheChild.hashes(mine)).isEqualTo(CacheChild.hashes(theirs)).isEqualTo(CacheChild.expected());
                mine.close();
                assertThat(cache.clear()).as("one of the two is still held").isEqualTo(1);
                assertThat(CacheChild.hashes(theirs)).isEqualTo(CacheChild.expected());
            }
        }
        assertThat(cache.clear()).isZero();
        assertThat(cache.entries(false)).isEmpty();
    }

    @Test
    void waitingEndsWhenTheCallerSaysSo() {
        try (EntryWriter _ = ((Lookup.Missing) look(cache)).writer()) {
            assertThatIllegalStateException().isThrownBy(() -> cache.look(key(), Duration.ofMinutes(1), _ -> {
                throw new IllegalStateException("cancelled");
            })).withMessage("cancelled");
        }
        assertThat(want().how()).as("the writer left nothing and no lock").isEqualTo("built");
    }

    @Test
    void whatWasNotPublishedIsGone() throws IOException {
        try (EntryWriter writer = ((Lookup.Missing) look(cache)).writer()) {
            CacheChild.put(writer);
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(Path::getFileName).map(Path::toString)).containsExactly("locks");
        }
    }

    @Test
    void theLeastRecentlyUsedThatNobodyHoldsMakesRoom() throws IOException {
        long one = bytesOfOne();
        PreparedCache small = new PreparedCache(folder, new CacheLimits(3 * one, 0));
        for (int i = 0; i < 3; i++) {
            CacheChild.want(small, key(i));
            Files.setLastModifiedTime(entry(i).resolve("ready.json"), FileTime.from(Instant.ofEpochSecond(1000 + i)));
        }
        CacheChild.want(small, key(0));
        try (HeldEntry _ = ((Lookup.Found) small.look(key(1), NO_PATIENCE, _ -> {
        })).entry()) {
            Files.setLastModifiedTime(entry(1).resolve("ready.json"), FileTime.from(Instant.ofEpochSecond(1)));
            CacheChild.want(small, key(3));
            assertThat(ids(small)).as("1 is the oldest but held, 0 was used again").containsExactlyInAnyOrder(key(0).id(), key(1).id(), key(3).id());
        }
    }

    @Test
    void anEntryThatDoesNotFitIsRefusedAndNothingHeldIsRemovedForIt() throws IOException {
        long one = bytesOfOne();
        PreparedCache small = new PreparedCache(folder, new CacheLimits(one, 0));
        CacheChild.want(small, key(0));
        try (HeldEntry _ = ((Lookup.Found) small.look(key(0), NO_PATIENCE, _ -> {
        })).entry(); EntryWriter writer = ((Lookup.Missing) small.look(key(1), NO_PATIENCE, _ -> {
        })).writer()) {
            assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> CacheChild.put(writer)).withMessageContaining("no room for");
        }
        assertThat(ids(small)).containsExactly(key(0).id());
        PreparedCache full = new PreparedCache(folder, new CacheLimits(1L << 40, Long.MAX_VALUE / 2));
        try (EntryWriter writer = ((Lookup.Missing) full.look(key(1), NO_PATIENCE, _ -> {
        })).writer()) {
            assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> CacheChild.put(writer)).withMessageContaining("stay free");
        }
    }

    @Test
    void whatDeadBuildersLeftMakesRoomFirst() throws IOException {
        long one = bytesOfOne();
        PreparedCache small = new PreparedCache(folder, new CacheLimits(2 * one, 0));
        CacheChild.want(small, key(0));
        Path dead = Files.createDirectory(folder.resolve("building-" + key(7).id()));
        Files.copy(entry(0).resolve("weights.bin"), dead.resolve("weights.bin"));
        Path trash = Files.createDirectory(folder.resolve("trash-1"));
        Files.copy(entry(0).resolve("weights.bin"), trash.resolve("weights.bin"));
        CacheChild.want(small, key(1));
        assertThat(ids(small)).containsExactlyInAnyOrder(key(0).id(), key(1).id());
        assertThat(dead).doesNotExist();
        assertThat(trash).doesNotExist();
    }

    @Test
    void linksAreRefused() throws IOException {
        want();
        for (String name : List.of("weights.bin", "manifest.json", "ready.json")) {
            Path file = entry().resolve(name);
            Path elsewhere = Files.move(file, temp.resolve("elsewhere-" + name));
            Files.createSymbolicLink(file, elsewhere);
            assertThat(want().how()).as(name).isEqualTo("built");
            assertThat(elsewhere).as("what a link points to is left alone").exists();
        }
        Path moved = Files.move(entry(), temp.resolve("moved"));
        Files.createSymbolicLink(entry(), moved);
        assertThat(want().how()).isEqualTo("built");
        assertThat(moved.resolve("weights.bin")).exists();
        Files.delete(folder.resolve("locks"));
        Files.createSymbolicLink(folder.resolve("locks"), Files.createFile(temp.resolve("other-locks")));
        assertThat(want().how()).startsWith("unusable");
    }

    /** An engine that mapped an entry before it was damaged holds it as long as it lives: nobody builds, and nobody waits for long. */
    @Test
    void whatIsDamagedAndHeldIsNotTakenForBeingBuilt() throws IOException {
        want();
        try (HeldEntry _ = ((Lookup.Found) look(cache)).entry()) {
            Files.writeString(entry().resolve("manifest.json"), "{}");
            AtomicReference<PreparedCache.Wait> waited = new AtomicReference<>();
            assertThatIllegalStateException().isThrownBy(() -> cache.look(key(), Duration.ofMinutes(10), wait -> {
                waited.set(wait);
                throw new IllegalStateException("cancelled");
            })).withMessage("cancelled");
            assertThat(waited.get().most()).isEqualTo(Duration.ofMinutes(1));
            assertThat(waited.get().unfit()).hasValueSatisfying(why -> assertThat(why).contains("manifest.json is not the one that ready.json names"));
            assertThat(look(cache)).isInstanceOfSatisfying(Lookup.Unusable.class, unusable -> assertThat(unusable.why()).contains("manifest.json is not the one", "somebody has held"));
            // The same where somebody emptied the folder.
            try (Stream<Path> files = Files.walk(folder)) {
                files.sorted(Comparator.reverseOrder()).forEach(file -> assertThat(file.toFile().delete()).isTrue());
            }
            assertThat(look(cache)).isInstanceOfSatisfying(Lookup.Unusable.class, unusable -> assertThat(unusable.why()).contains("not there any more", "somebody has held"));
        }
        assertThat(want().how()).isEqualTo("built");
    }

    @Test
    void anotherEntrysFilesAreRefused() throws IOException {
        CacheChild.want(cache, key(0));
        CacheChild.want(cache, key(1));
        for (String name : List.of("weights.bin", "manifest.json", "ready.json")) {
            Files.delete(entry(0).resolve(name));
            Files.copy(entry(1).resolve(name), entry(0).resolve(name));
        }
        try (EntryWriter _ = missing(cache.look(key(0), NO_PATIENCE, _ -> {
        }), "of another entry")) {
            assertThat(cache.entries(true)).extracting(EntryFacts::id).containsExactly(key(1).id());
        }
    }

    @Test
    void contentIsComparedOnlyWhenTheFileIsAnother() throws IOException, InterruptedException {
        want();
        // A comparison within a tick of the file's last change proves nothing, so it would be made once more.
        Thread.sleep(50);
        AtomicInteger writes = new AtomicInteger();
        PreparedCache watched = new PreparedCache(folder, CacheLimits.DEFAULTS, new DiskSteps(_ -> writes.incrementAndGet()));
        CacheChild.want(watched, key());
        writes.set(0);
        CacheChild.want(watched, key());
        assertThat(writes).as("the marker is written anew only after a comparison").hasValue(0);
        Path copy = Files.copy(entry().resolve("weights.bin"), temp.resolve("copy"));
        Files.move(copy, Files.createDirectory(temp.resolve("dir")).resolve("weights.bin"));
        Files.delete(entry().resolve("weights.bin"));
        Files.move(temp.resolve("dir/weights.bin"), entry().resolve("weights.bin"));
        assertThat(CacheChild.want(watched, key()).how()).as("a copy has the same content").isEqualTo("found");
        assertThat(writes).hasPositiveValue();
    }

    @Test
    void aFolderThatCannotBeWrittenIsReadOrPassedOver() throws IOException {
        assumeFalse(System.getProperty("user.name").equals("root"), "root may write anywhere");
        want();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
        Files.setPosixFilePermissions(folder.resolve("locks"), PosixFilePermissions.fromString("r--r--r--"));
        try {
            assertThat(want().how()).isEqualTo("found");
            assertThat(CacheChild.want(cache, key(5)).how()).startsWith("unusable");
        } finally {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @Test
    void aFolderThatIsNoneIsPassedOver() throws IOException {
        PreparedCache file = new PreparedCache(source, CacheLimits.DEFAULTS);
        assertThat(CacheChild.want(file, key()).how()).startsWith("unusable");
        assertThat(file.entries(false)).isEmpty();
        assertThat(file.clear()).isZero();
        PreparedCache below = new PreparedCache(source.resolve("cache"), CacheLimits.DEFAULTS);
        assertThat(CacheChild.want(below, key()).how()).startsWith("unusable");
    }

    private CacheChild.Outcome want() {
        return CacheChild.want(cache, key());
    }

    private Lookup look(PreparedCache from) {
        return from.look(key(), NO_PATIENCE, _ -> {
        });
    }

    private static EntryWriter missing(Lookup lookup, String instead) {
        assertThat(lookup).isInstanceOf(Lookup.Missing.class);
        assertThat(((Lookup.Missing) lookup).instead()).hasValueSatisfying(why -> assertThat(why).contains(instead));
        return ((Lookup.Missing) lookup).writer();
    }

    private long bytesOfOne() throws IOException {
        PreparedCache other = new PreparedCache(temp.resolve("measure"), CacheLimits.DEFAULTS);
        CacheChild.want(other, key());
        return other.entries(false).getFirst().bytes();
    }

    private PreparedKey key() {
        try {
            return CacheChild.key(source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private PreparedKey key(int number) throws IOException {
        return PreparedKey.of("test " + number, Map.of("rounding", "f16"), List.of(source));
    }

    private Path entry() throws IOException {
        return folder.resolve("entry-" + key().id());
    }

    private Path entry(int number) throws IOException {
        return folder.resolve("entry-" + key(number).id());
    }

    private static List<String> ids(PreparedCache of) throws IOException {
        return of.entries(false).stream().map(EntryFacts::id).toList();
    }
}
