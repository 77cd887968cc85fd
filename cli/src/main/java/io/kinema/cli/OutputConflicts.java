package io.kinema.cli;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.model.BundledModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Refuses outputs that would replace one another or something that the request reads, whatever the names by which they are
 * called: symbolic links and dots are followed.
 */
final class OutputConflicts {
    /**
     * A file or folder that the command line names.
     *
     * @param field  the request's or option's name, as messages know it
     * @param name   as the user wrote it, or what follows from that
     * @param path   where it really lies
     * @param frames a folder that frames are written to
     */
    private record Place(String field, Path name, Path path, boolean frames) {
        static Place file(String field, Path name) {
            return new Place(field, name, real(name), false);
        }

        static Place frames(Path name) {
            return new Place("framesDir", name, real(name), true);
        }

        /** Whether writing one of the two writes the other. */
        boolean meets(Place other) {
            return path.equals(other.path) || frames && holdsFrame(other.path) || other.frames && other.holdsFrame(path);
        }

        private boolean holdsFrame(Path file) {
            return path.equals(file.getParent()) && OutputFiles.isFrame(file.getFileName().toString());
        }
    }

    private OutputConflicts() {
    }

    /** @throws BadRequestException for the first conflict, in the order of the options */
    static void refuse(List<OutputFiles> clips, GenerateRequest request, EngineOptions engine) {
        List<Place> inputs = inputs(request, engine);
        Path model = real(engine.model().orElseGet(BundledModel::folder));
        List<Place> outputs = new ArrayList<>();
        for (Place output : clips.stream().flatMap(clip -> places(clip).stream()).toList()) {
            inputs.stream().filter(output::meets).findFirst().ifPresent(input -> {
                throw conflict(output, "which the request reads as " + Failures.optionName(input.field()));
            });
            outputs.stream().filter(output::meets).findFirst().ifPresent(earlier -> {
                throw conflict(output, "which " + Failures.optionName(earlier.field()) + " writes too");
            });
            if (output.path().startsWith(model) && Files.exists(output.path())) {
                throw conflict(output, "which is a file of the model");
            }
            outputs.add(output);
        }
    }

    private static BadRequestException conflict(Place output, String because) {
        return new BadRequestException(output.field(), "'" + output.name() + "', " + because, "expected a file of its own; choose another name");
    }

    private static List<Place> places(OutputFiles clip) {
        List<Place> places = new ArrayList<>(List.of(Place.file("output", clip.clip()), Place.file("output", clip.record())));
        clip.wav().ifPresent(file -> places.add(Place.file("wav", file)));
        clip.frames().ifPresent(folder -> places.add(Place.frames(folder)));
        clip.latents().ifPresent(file -> places.add(Place.file("saveLatents", file)));
        return places;
    }

    private static List<Place> inputs(GenerateRequest request, EngineOptions engine) {
        List<Place> places = new ArrayList<>();
        request.image().ifPresent(file -> places.add(Place.file("image", file)));
        request.lastImage().ifPresent(file -> places.add(Place.file("lastImage", file)));
        request.references().forEach(reference -> places.add(Place.file("reference", reference.file())));
        request.adapters().forEach(adapter -> places.add(Place.file("adapter", adapter.file())));
        engine.transformer().ifPresent(file -> places.add(Place.file("transformer", file)));
        return places;
    }

    /** The path with every link followed; of what is not there yet, its folder's. */
    private static Path real(Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        try {
            if (Files.exists(absolute)) {
                return absolute.toRealPath();
            }
            Path folder = absolute.getParent();
            return folder != null && Files.exists(folder) ? folder.toRealPath().resolve(absolute.getFileName()) : absolute;
        } catch (IOException unreadable) {
            return absolute;
        }
    }
}
