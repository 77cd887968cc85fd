package io.kinema.jobs;

import io.kinema.engine.GenerateRequest;
import java.util.Objects;

/**
 * What a job makes.
 *
 * @param model    name of the model that must make it; only workers that serve it take the job
 * @param generate the request. Its pictures, references and latents are named by storage key ({@code inputs/video_.../0.png}), not
 *                 by file: {@link JobInputs#fetch} brings them to files. Adapters are named by the path that they have on every worker
 * @param details  JSON object that whoever submitted the job wants to find with it again, for example its resolved values; not
 *                 read here
 */
public record JobRequest(String model, GenerateRequest generate, String details) {
    public JobRequest {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(generate, "generate");
        Objects.requireNonNull(details, "details");
    }
}
