package io.kinema.measure.qualify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.Backend;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.Task;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.pipeline.Backends;
import io.kinema.engine.pipeline.RankDevices;
import io.kinema.engine.record.FileHashes;
import io.kinema.engine.record.HostFacts;
import io.kinema.engine.record.Installation;
import io.kinema.measure.contract.CanonicalJson;
import io.kinema.weights.CheckpointIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * All that a measurement of a route rests on, by content. When one part is another, what was measured says nothing any more.
 *
 * @param parts {@code model}, {@code transformer}, {@code engine}, {@code java}, {@code native_libraries}, {@code machine}, {@code device}
 */
record RouteInputs(ObjectNode parts) {
    /**
     * Of a route as this machine is now. Hashes the model's files, and opens the device for a moment.
     *
     * @throws io.kinema.weights.BadWeightsException when a file of the model cannot be read
     * @throws BadRequestException                   when there is no such device here
     */
    static RouteInputs of(EngineOptions options, Task task) {
        ModelFolder model = ModelFolder.open(options.model().orElseGet(BundledModel::folder));
        Installation code = Installation.here();
        HostFacts host = HostFacts.here();
        ObjectNode parts = JsonNodeFactory.instance.objectNode();
        parts.put("model", CheckpointIdentity.of(model.root()).sha256());
        parts.put("transformer", CheckpointIdentity.of(options.transformer().orElseGet(() -> model.folder(Component.transformerOf(task)))).sha256());
        parts.putObject("engine").put("version", code.version()).put("sha256", code.codeSha256());
        parts.putObject("java").put("version", code.java()).put("sha256", code.javaSha256());
        parts.putObject("machine").put("processor", host.processor()).put("cores", host.cores()).put("memory_bytes", host.memoryBytes())
                .put("system", host.system());
        List<String> devices = RankDevices.of(options.device(), options.ranks().tensorParallel()).devices().stream().distinct().toList();
        for (int i = 0; i < devices.size(); i++) {
            device(parts, i == 0 ? "device" : "device_" + i, devices.get(i), options);
        }
        return new RouteInputs(parts);
    }

    private static void device(ObjectNode parts, String part, String name, EngineOptions options) {
        try (Backend backend = Backends.opener(name, options.threads(), options.backend()).get()) {
            ObjectNode libraries = parts.putObject("native_libraries");
            backend.libraries().forEach(libraries::put);
            backend.report().libraryFiles().forEach(file -> libraries.put(file.getFileName() + " sha256", sha256(file)));
            ObjectNode device = parts.putObject(part).put("name", backend.device().toString());
            backend.report().facts().forEach(device::put);
        }
    }

    private static String sha256(Path file) {
        try {
            return Files.isRegularFile(file) ? FileHashes.ofUser().sha256(file) : "found by the system's loader";
        } catch (IOException e) {
            return "unreadable";
        }
    }

    /** Names of the parts that are not the same. */
    List<String> differences(JsonNode other) {
        List<String> names = new ArrayList<>();
        parts.fieldNames().forEachRemaining(name -> {
            if (!CanonicalJson.text(parts.path(name)).equals(CanonicalJson.text(other.path(name)))) {
                names.add(name.replace('_', ' '));
            }
        });
        return names;
    }
}
