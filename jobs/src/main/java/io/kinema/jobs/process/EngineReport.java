package io.kinema.jobs.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.OutputFile;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

/** What the engine process tells its parent. */
public sealed interface EngineReport {
    /** It takes orders. */
    record Ready() implements EngineReport {
    }

    /** It is alive; sent every second. */
    record Alive() implements EngineReport {
    }

    /** A stage began. */
    record StageBegan(JobStage stage) implements EngineReport {
    }

    /** Work on an output began. */
    record OutputBegan(int output) implements EngineReport {
    }

    /** A model evaluation of an output is done. */
    record Step(int output, int step, int steps) implements EngineReport {
    }

    /** The loop of an output goes on after the steps of an earlier attempt. */
    record Restored(int output, int step, int steps) implements EngineReport {
    }

    /** The state after a step is on the disk. */
    record Saved(int output, int step, int steps) implements EngineReport {
    }

    /** The files of an output are in its folder. */
    record OutputReady(int output, long seed, Set<OutputFile> files) implements EngineReport {
        public OutputReady {
            files = Set.copyOf(files);
        }
    }

    /** All outputs are made; it takes orders again. */
    record Done() implements EngineReport {
    }

    /** It has stopped because it was told to, computes nothing any more and takes orders again. */
    record Stopped() implements EngineReport {
    }

    /** It met an error and takes orders again. */
    record Failed(JobError error) implements EngineReport {
    }

    /** The process has ended; never sent, but put after the last message by {@link EngineProcess}. */
    record Died(String lastWords) implements EngineReport {
    }

    /** As a message. */
    default ObjectNode toJson() {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        return switch (this) {
            case Ready _ -> node.put("type", "ready");
            case Alive _ -> node.put("type", "alive");
            case StageBegan began -> node.put("type", "stage").put("stage", began.stage().label());
            case OutputBegan began -> node.put("type", "output_began").put("output", began.output());
            case Step s -> counts(node.put("type", "step"), s.output(), s.step(), s.steps());
            case Restored s -> counts(node.put("type", "restored"), s.output(), s.step(), s.steps());
            case Saved s -> counts(node.put("type", "saved"), s.output(), s.step(), s.steps());
            case OutputReady ready -> {
                ArrayNode files = node.put("type", "output_ready").put("output", ready.output()).put("seed", ready.seed()).putArray("files");
                ready.files().forEach(file -> files.add(file.fileName()));
                yield node;
            }
            case Done _ -> node.put("type", "done");
            case Stopped _ -> node.put("type", "stopped");
            case Failed failed -> node.put("type", "failed").put("code", failed.error().code().label()).put("message", failed.error().message());
            case Died died -> throw new IllegalStateException("a process does not report its own end");
        };
    }

    private static ObjectNode counts(ObjectNode node, int output, int step, int steps) {
        return node.put("output", output).put("step", step).put("steps", steps);
    }

    /** The report that a message is. @throws IOException when it is none */
    static EngineReport read(JsonNode node) throws IOException {
        int output = node.path("output").asInt();
        int step = node.path("step").asInt();
        int steps = node.path("steps").asInt();
        return switch (node.path("type").asText()) {
            case "ready" -> new Ready();
            case "alive" -> new Alive();
            case "stage" -> new StageBegan(JobStage.labelled(node.path("stage").asText()).orElseThrow(() -> unknown(node)));
            case "output_began" -> new OutputBegan(output);
            case "step" -> new Step(output, step, steps);
            case "restored" -> new Restored(output, step, steps);
            case "saved" -> new Saved(output, step, steps);
            case "output_ready" -> new OutputReady(output, node.path("seed").asLong(), files(node.path("files")));
            case "done" -> new Done();
            case "stopped" -> new Stopped();
            case "failed" -> new Failed(new JobError(JobError.Code.labelled(node.path("code").asText()).orElseThrow(() -> unknown(node)), node.path("message").asText()));
            default -> throw unknown(node);
        };
    }

    private static Set<OutputFile> files(JsonNode names) throws IOException {
        Set<OutputFile> files = EnumSet.noneOf(OutputFile.class);
        for (JsonNode name : names) {
            files.add(OutputFile.named(name.asText()).orElseThrow(() -> unknown(name)));
        }
        return files;
    }

    private static IOException unknown(JsonNode node) {
        return new IOException("engine pipe: got a report that this version does not know: " + node.path("type").asText());
    }
}
