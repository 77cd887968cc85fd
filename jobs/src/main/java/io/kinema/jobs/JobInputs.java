package io.kinema.jobs;

import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageKey;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Carries the files that requests name (pictures, videos, sounds, latents; not adapters) to and from the storage. */
public final class JobInputs {
    private JobInputs() {
    }

    /**
     * Stores every input of a request and names it by its key.
     *
     * @throws io.kinema.jobs.storage.StorageException when one cannot be stored; nothing stays then
     */
    public static GenerateRequest store(JobId id, GenerateRequest request, OutputStorage storage) {
        Map<Path, Path> keys = new LinkedHashMap<>();
        try {
            return renamed(request, file -> keys.computeIfAbsent(file, f -> {
                StorageKey key = JobFiles.inputs(id).resolve(keys.size() + suffix(f));
                storage.put(key, f);
                return Path.of(key.value());
            }));
        } catch (RuntimeException e) {
            storage.deleteAll(JobFiles.inputs(id));
            throw e;
        }
    }

    /**
     * Copies every input of a job from the storage to a folder and names it by its file there.
     *
     * @param folder there already
     * @throws io.kinema.jobs.storage.StorageException when one cannot be read
     */
    public static GenerateRequest fetch(Job job, OutputStorage storage, Path folder) {
        Map<Path, Path> files = new LinkedHashMap<>();
        return renamed(job.request().generate(), key -> files.computeIfAbsent(key, k -> {
            Path file = folder.resolve(k.getFileName().toString());
            storage.fetch(new StorageKey(k.toString()), file);
            return file;
        }));
    }

    /** Whether a request names any. */
    public static boolean any(GenerateRequest request) {
        return request.image().isPresent() || request.lastImage().isPresent() || !request.references().isEmpty();
    }

    /** The same request with other names for its inputs. */
    public static GenerateRequest renamed(GenerateRequest request, UnaryOperator<Path> name) {
        return new GenerateRequest(request.prompt(), request.task(), request.image().map(name), request.lastImage().map(name),
                request.references().stream().map(reference -> renamed(reference, name)).toList(), request.width(), request.height(),
                request.aspectRatio(), request.frames(), request.seconds(), request.steps(), request.seed(), request.outputs(),
                request.flowShift(), request.audioFlowShift(), request.noiseScheme(), request.strict(), request.adapters());
    }

    private static Reference renamed(Reference reference, UnaryOperator<Path> name) {
        return switch (reference) {
            case Reference.Image image -> new Reference.Image(name.apply(image.file()));
            case Reference.Video video -> new Reference.Video(name.apply(video.file()), video.sound());
            case Reference.Audio audio -> new Reference.Audio(name.apply(audio.file()));
            case Reference.Latents latents -> new Reference.Latents(name.apply(latents.file()), latents.sound());
        };
    }

    /** Its ending only: the rest of a name that a client chose is nobody's business. */
    private static String suffix(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        String suffix = name.substring(Math.max(0, name.lastIndexOf('.')));
        return suffix.matches("\\.[a-z0-9]{1,12}") ? suffix : "";
    }
}
