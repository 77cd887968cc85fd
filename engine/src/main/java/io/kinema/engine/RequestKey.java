package io.kinema.engine;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.plan.Keyframe;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.record.EngineVersion;
import io.kinema.engine.record.ResolvedRequestJson;
import io.kinema.engine.record.RunRecord;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.CheckpointIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** A hash of everything that decides the bits of a request's outputs. */
final class RequestKey {
    private RequestKey() {
    }

    /** SHA-256, hexadecimal, of request, contents of its inputs, model and how its rows are read, version, precision, backend, its kernels and ranks. */
    static String of(ResolvedRequest request, RunRecord.Model model, RunRecord.Execution execution, EngineOptions options) {
        ObjectNode node = ResolvedRequestJson.of(request);
        node.remove("notes");
        List<String> lines = new ArrayList<>(List.of(EngineVersion.VERSION, node.toString(), model.sha256(), model.transformerSha256(),
                execution.device(), execution.backend(), execution.precision(), "tensor-parallel " + execution.ranks().tensorParallel(),
                "fp16 layout " + options.fp16WeightLayoutInForce(), "transformer layout " + options.transformerLayout(), "attention " + options.backend().attention(),
                "kernels " + options.backend().architecture()));
        request.keyframes().stream().map(Keyframe::file).map(RequestKey::content).forEach(lines::add);
        request.references().stream().map(Reference::file).map(RequestKey::content).forEach(lines::add);
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(String.join("\n", lines).getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static String content(Path file) {
        try {
            return CheckpointIdentity.sha256(file);
        } catch (IOException e) {
            throw new BadWeightsException(file + ": cannot be read any more; it was there when the request began", e);
        }
    }
}
