package io.kinema.serve.request;

import io.kinema.jobs.Job;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import io.kinema.jobs.storage.StoredFile;
import io.kinema.serve.body.StagedOutput;
import io.kinema.serve.body.Staging;
import io.kinema.serve.fetch.DataUrl;
import io.kinema.serve.fetch.ReferenceFetcher;
import io.kinema.serve.fetch.RefusedUrlException;
import io.kinema.serve.http.Caller;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import io.kinema.serve.request.MediaInput.Role;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/** Brings the pictures, videos and sounds of a call to files, whatever they come from, and sees what they are. */
final class MediaStager {
    private static final String PATHS_OFF = "expected an upload or an address: this server reads no files by path";

    private final ReferenceFetcher fetcher;
    private final JobStore jobs;
    private final OutputStorage storage;
    private final Optional<Path> root;

    MediaStager(ReferenceFetcher fetcher, JobStore jobs, OutputStorage storage, Optional<Path> root) {
        this.fetcher = fetcher;
        this.jobs = jobs;
        this.storage = storage;
        this.root = root;
    }

    /**
     * An input that lies in a file.
     *
     * @param input what the client wrote
     * @param file  where it lies
     * @param kind  what it is
     * @param bytes its length
     */
    record Staged(MediaInput input, Path file, MediaKind kind, long bytes) {
    }

    /** @param caller whose earlier videos it may be @throws Problem when it cannot be had, or is nothing that a request could use */
    Staged stage(MediaInput input, Caller caller, Staging staging) {
        Path file = switch (input.source()) {
            case MediaSource.Uploaded uploaded -> uploaded.upload().file();
            case MediaSource.Address address -> address(input, address.url(), staging.newFile());
            case MediaSource.ServerFile path -> serverFile(input.name(), path.path());
            case MediaSource.Earlier earlier -> earlier(input, earlier, caller, staging.newFile());
        };
        MediaKind kind = MediaKind.of(head(file)).orElseThrow(() -> Problem.invalid(input.name(), "a file of an unknown kind",
                "expected PNG, JPEG, WebP or HEIC; MP4, MOV or WebM; WAV, MP3 or another sound"));
        long bytes = size(file);
        if (bytes > kind.mostBytes()) {
            throw Problem.field(ProblemKind.TOO_LARGE, input.name(), kind.label() + " of " + bytes + " bytes", "expected at most " + kind.mostBytes());
        }
        return new Staged(input, file, kind, bytes);
    }

    private Path address(MediaInput input, String url, Path target) {
        try {
            if (DataUrl.is(url)) {
                try (StagedOutput file = StagedOutput.to(target)) {
                    file.write(DataUrl.decode(url, MediaKind.MOST_BYTES));
                }
            } else {
                fetcher.fetch(url, target, MediaKind.MOST_BYTES);
            }
        } catch (RefusedUrlException refused) {
            throw Problem.sentence(refused.tooLarge() ? ProblemKind.TOO_LARGE : ProblemKind.INVALID, input.name(),
                    input.name() + ": got " + refused.getMessage());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (size(target) == 0) {
            throw Problem.invalid(input.name(), "an empty file", "expected one with content");
        }
        return target;
    }

    /** One answer for what is not there and what lies outside: nobody learns what the machine holds. */
    private Path serverFile(String name, String path) {
        Path folder = root.orElseThrow(() -> Problem.invalid(name, "a path on the server", PATHS_OFF));
        try {
            Path real = folder.resolve(path).toRealPath();
            if (real.startsWith(folder.toRealPath()) && Files.isRegularFile(real) && Files.isReadable(real)) {
                return real;
            }
        } catch (IOException | InvalidPathException absent) {
            // Answered below like a path that leads outside.
        }
        throw Problem.invalid(name, "a path that leads to no file here", "expected one below the folder that this server offers");
    }

    private Path earlier(MediaInput input, MediaSource.Earlier earlier, Caller caller, Path target) {
        OutputFile file = switch (input.role()) {
            case REFERENCE_LATENTS, REFERENCE_LATENTS_SOUND -> OutputFile.LATENTS;
            case REFERENCE_VIDEO, REFERENCE_VIDEO_SILENT, REFERENCE_VIDEO_SOUND, ANY -> OutputFile.VIDEO;
            case FIRST, LAST, PICTURE, REFERENCE_IMAGE -> OutputFile.THUMBNAIL;
            case REFERENCE_AUDIO -> throw Problem.invalid(input.name(), "a video for a sound", "expected an audio file");
        };
        // Another's is answered like one that was never there.
        Optional<Job> job = jobs.get(earlier.job()).filter(one -> caller.owns(one.owner()));
        StoredFile stored = job.flatMap(j -> j.output(earlier.output())).flatMap(output -> output.file(file)).orElseThrow(() ->
                Problem.invalid(input.name(), "an earlier video that has no such " + (file == OutputFile.LATENTS ? "latents" : "output"),
                        "expected a completed one of this server"));
        try {
            storage.fetch(stored.key(), target);
        } catch (StorageException gone) {
            throw Problem.invalid(input.name(), "an earlier video whose files are gone", "expected a completed one of this server");
        }
        return target;
    }

    private static byte[] head(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(MediaKind.HEAD);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The kind of file that a role takes; empty for any. */
    static Optional<MediaKind> expected(Role role) {
        return switch (role) {
            case FIRST, LAST, PICTURE, REFERENCE_IMAGE -> Optional.of(MediaKind.PICTURE);
            case REFERENCE_VIDEO, REFERENCE_VIDEO_SILENT, REFERENCE_VIDEO_SOUND -> Optional.of(MediaKind.VIDEO);
            case REFERENCE_AUDIO -> Optional.of(MediaKind.SOUND);
            case REFERENCE_LATENTS, REFERENCE_LATENTS_SOUND -> Optional.of(MediaKind.LATENTS);
            case ANY -> Optional.empty();
        };
    }
}
