package io.kinema.weights.prepared;

import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Looks whether an entry is what its writer wrote. Names, sizes and the manifest's hash are compared each time; the content of the
 * weights when they are no longer the file whose content was compared last, or when somebody asks for it.
 */
final class EntryCheck {
    private static final int MOST_THREADS = 16;

    private EntryCheck() {
    }

    /** What an entry was found to be. */
    sealed interface Verdict {
        /** @param compared a new marker when the content was compared; empty when the old one holds */
        record Whole(PreparedManifest manifest, Optional<ReadyMarker> compared) implements Verdict {
        }

        record Absent() implements Verdict {
        }

        record Broken(String why) implements Verdict {
        }
    }

    /** When the content of the weights is compared. */
    enum Content {
        /** Never: for who only lists entries. */
        UNREAD,
        /** When they are no longer the file whose content was compared last. */
        WHEN_CHANGED,
        /** In any case. */
        ALWAYS
    }

    static Verdict of(Path folder, Optional<PreparedKey> key, Content content) throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return new Verdict.Absent();
        }
        try {
            require(Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS), folder.getFileName() + " is no folder");
            ReadyMarker ready = ReadyMarker.parse(read(folder.resolve(CacheLayout.READY), ReadyMarker.LARGEST));
            byte[] bytes = read(folder.resolve(CacheLayout.MANIFEST), PreparedManifest.LARGEST);
            require(Sha256.hex(bytes).equals(ready.manifest()), CacheLayout.MANIFEST + " is not the one that " + CacheLayout.READY + " names");
            PreparedManifest manifest = PreparedManifest.parse(bytes);
            require(key.isEmpty() || key.get().text().equals(manifest.key()), CacheLayout.MANIFEST + " is of another entry");
            FileStat stat = weights(folder);
            require(stat.bytes() == manifest.bytes(), CacheLayout.WEIGHTS + " has " + stat.bytes() + " bytes, expected " + manifest.bytes());
            if (content == Content.UNREAD || content == Content.WHEN_CHANGED && ready.knows(stat)) {
                return new Verdict.Whole(manifest, Optional.empty());
            }
            long began = ReadyMarker.now();
            requireContent(folder.resolve(CacheLayout.WEIGHTS), manifest);
            return new Verdict.Whole(manifest, Optional.of(new ReadyMarker(ready.manifest(), stat, began)));
        } catch (BadWeightsException broken) {
            return new Verdict.Broken(broken.getMessage());
        }
    }

    /** The file of weights as it is. @throws BadWeightsException when it is missing or no plain file */
    static FileStat weights(Path folder) throws IOException {
        Path file = folder.resolve(CacheLayout.WEIGHTS);
        requirePlain(file);
        return FileStat.of(file, LinkOption.NOFOLLOW_LINKS);
    }

    static FileChannel open(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    }

    /** @throws BadWeightsException naming the first tensor that is not what the manifest says */
    static void requireContent(Path file, PreparedManifest manifest) throws IOException {
        try (Arena arena = Arena.ofShared(); FileChannel channel = open(file)) {
            MemorySegment weights = channel.map(FileChannel.MapMode.READ_ONLY, 0, manifest.bytes(), arena);
            int[] broken = brokenTensors(weights, manifest);
            require(broken.length == 0, broken.length == 0 ? "" : "tensor " + manifest.tensors().get(broken[0]).name() + " is not what was written");
        }
    }

    private static int[] brokenTensors(MemorySegment weights, PreparedManifest manifest) {
        int count = manifest.tensors().size();
        boolean[] broken = new boolean[count];
        AtomicInteger next = new AtomicInteger();
        Runnable work = () -> {
            for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                PreparedManifest.Tensor tensor = manifest.tensors().get(i);
                broken[i] = !Sha256.hex(weights.asSlice(tensor.offset(), manifest.span(i))).equals(tensor.sha256());
            }
        };
        Thread[] helpers = IntStream.range(1, Math.min(MOST_THREADS, Math.min(count, Runtime.getRuntime().availableProcessors())))
                .mapToObj(i -> Thread.ofPlatform().daemon().name("prepared weights check " + i).start(work)).toArray(Thread[]::new);
        work.run();
        for (Thread helper : helpers) {
            join(helper);
        }
        return IntStream.range(0, count).filter(i -> broken[i]).toArray();
    }

    /** The map may not go while a helper reads it, so an interrupt is kept for later. */
    private static void join(Thread helper) {
        boolean interrupted = false;
        while (helper.isAlive()) {
            try {
                helper.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] read(Path file, int most) throws IOException {
        requirePlain(file);
        long size = FileStat.of(file, LinkOption.NOFOLLOW_LINKS).bytes();
        require(size <= most, file.getFileName() + " has " + size + " bytes, expected at most " + most);
        return Files.readAllBytes(file);
    }

    private static void requirePlain(Path file) {
        require(Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS), file.getFileName() + " is missing, or a link, or no plain file");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new BadWeightsException(otherwise);
        }
    }
}
