package io.kinema.jobs.worker;

import io.kinema.jobs.process.EngineLauncher;
import java.nio.file.Path;
import java.util.Objects;

/**
 * How a worker works.
 *
 * @param model      name of the model that its engine runs; it takes jobs for this one
 * @param launcher   starts its engine process
 * @param workFolder where files of the running job lie; several workers may use the same
 * @param saveEvery  steps from one saving of the sampler's state to the next
 * @param times      how long it waits for what
 */
public record WorkerOptions(String model, EngineLauncher launcher, Path workFolder, int saveEvery, WorkerTimes times) {
    public WorkerOptions {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(launcher, "launcher");
        Objects.requireNonNull(workFolder, "workFolder");
        Objects.requireNonNull(times, "times");
        if (saveEvery < 1) {
            throw new IllegalArgumentException("saveEvery: got " + saveEvery + ", expected at least 1");
        }
    }
}
