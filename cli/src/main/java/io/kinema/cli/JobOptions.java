package io.kinema.cli;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.model.BundledModel;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.process.EngineLauncher;
import io.kinema.jobs.service.QueueOptions;
import io.kinema.jobs.sql.DatabaseUrl;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.S3Storage;
import io.kinema.jobs.worker.WorkerOptions;
import io.kinema.jobs.worker.WorkerTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** Where jobs and their files are, and how this process works on them: options that {@code serve} and {@code worker} share. */
final class JobOptions {
    @Option(names = "--queue", paramLabel = "JDBC_URL", description = "PostgreSQL database that holds the jobs, for several hosts: "
            + "jdbc:postgresql://HOST/DATABASE?user=USER (default: a file in --data).")
    private Optional<String> queue = Optional.empty();

    @Option(names = "--data", paramLabel = "DIR", description = "Folder for jobs, results and work in progress (default: kinema-data).")
    private Path data = Path.of("kinema-data");

    @Option(names = "--storage", paramLabel = "DIR|s3://BUCKET/PREFIX", description = "Where inputs and results are, which all workers of the queue reach "
            + "(default: the folder storage in --data). A bucket may be followed by ?endpoint=URL&region=NAME; credentials come from the environment.")
    private Optional<String> storage = Optional.empty();

    @Option(names = "--save-every", paramLabel = "K", description = "Save a running job's latents every K steps (default: 5).")
    private int saveEvery = 5;

    @Option(names = "--drain", paramLabel = "SECONDS", description = "How long a running job may go on once the process is told to stop; then it is given back "
            + "with its last saved step (default: 20).")
    private long drain = 20;

    /** Where files of this process lie. */
    Path data() {
        return data;
    }

    /** @throws BadRequestException when a number is none that a worker can have */
    void require() {
        if (saveEvery < 1) {
            throw new BadRequestException("saveEvery", "" + saveEvery, "expected 1 or more steps");
        }
        if (drain < 0) {
            throw new BadRequestException("drain", "" + drain, "expected 0 s or more");
        }
    }

    /** Makes the folders that the options name. @throws BadRequestException when one cannot be made, naming the option */
    void makeFolders() {
        make("data", data);
        storage.filter(name -> !name.startsWith(S3Storage.SCHEME)).map(Path::of).ifPresent(folder -> make("storage", folder));
    }

    private static void make(String field, Path folder) {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new BadRequestException(field, "'" + folder + "', which cannot be made", "expected a folder that can be written");
        }
    }

    /** The queue, without a worker. */
    QueueOptions queue(JobLimits limits) {
        return QueueOptions.of(queue.map(DatabaseUrl::shared).orElseGet(() -> DatabaseUrl.inFolder(data)), files()).limits(limits);
    }

    /** True when other processes may use the queue too. */
    boolean shared() {
        return queue.isPresent();
    }

    private OutputStorage files() {
        if (storage.filter(name -> name.startsWith(S3Storage.SCHEME)).isPresent()) {
            return S3Storage.open(storage.get());
        }
        return FolderStorage.open(storage.map(Path::of).orElse(data.resolve("storage")));
    }

    /**
     * A worker whose engine process runs as this command was told to.
     *
     * @param command the command that is being run; what its engine options say is passed on to the child
     */
    WorkerOptions worker(EngineOptions engine, CommandSpec command) {
        WorkerTimes times = WorkerTimes.defaults().drain(Duration.ofSeconds(drain));
        return new WorkerOptions(modelName(engine), launcher(command), QueueOptions.workFolder(data), saveEvery, times);
    }

    /** The name by which jobs ask for this model: its folder's. */
    static String modelName(EngineOptions engine) {
        return engine.model().orElseGet(BundledModel::folder).toAbsolutePath().normalize().getFileName().toString();
    }

    private static EngineLauncher launcher(CommandSpec command) {
        List<String> arguments = new ArrayList<>(List.of(WorkerEngineCommand.NAME));
        CommandSpec child = new CommandLine(new WorkerEngineCommand()).getCommandSpec();
        for (OptionSpec option : command.commandLine().getParseResult().matchedOptions()) {
            if (child.findOption(option.longestName()) != null) {
                option.originalStringValues().forEach(value -> arguments.add(option.longestName() + "=" + value));
            }
        }
        return () -> OwnProgram.start(arguments);
    }
}
