package io.kinema.engine.forecast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.ResidualOptions;
import io.kinema.engine.Stage;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.StageTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How fast this machine ran: seconds for each unit of a stage's work, the last few of every way of running. Immutable.
 *
 * @param seconds by way of running and stage; newest last
 */
public record Rates(Map<String, List<Double>> seconds) {
    /** Nothing measured yet. */
    public static final Rates NONE = new Rates(Map.of());
    private static final String SCHEMA = "kinema.rates/1";
    /** Old measurements are of an older engine or another load of the machine. */
    private static final int KEPT = 8;
    private static final int MOST_KEYS = 600;

    public Rates {
        Map<String, List<Double>> copy = new TreeMap<>();
        seconds.forEach((key, values) -> copy.put(key, List.copyOf(values)));
        seconds = java.util.Collections.unmodifiableMap(copy);
    }

    /** These and what a run measured. */
    public Rates with(RunRecord run) {
        Map<String, List<Double>> more = new TreeMap<>(seconds);
        String way = way(run.host().processor(), run.model(), run.execution());
        for (StageTime stage : run.stages()) {
            double work = StageWork.of(stage.stage(), run);
            if (work > 0 && stage.seconds() > 0) {
                List<Double> values = new ArrayList<>(more.getOrDefault(key(way, stage.stage()), List.of()));
                values.add(stage.seconds() / work);
                more.put(key(way, stage.stage()), values.subList(Math.max(0, values.size() - KEPT), values.size()));
            }
        }
        return more.size() > MOST_KEYS ? NONE : new Rates(more);
    }

    /** Seconds a unit of a stage's work took in this way of running; newest last, none when it was never measured. */
    List<Double> of(String way, Stage stage) {
        return seconds.getOrDefault(key(way, stage), List.of());
    }

    /** What a rate depends on besides the amount of work. */
    static String way(String processor, RunRecord.Model model, RunRecord.Execution execution) {
        return String.join(" | ", processor, model.name(), model.transformer(), execution.backend(),
                execution.precision() + execution.fp16WeightLayout().map(layout -> " " + layout.label()).orElse(""), execution.threads() + " threads"
                + (execution.ranks().tensorParallel() == 1 ? "" : ", tensor-parallel " + execution.ranks().tensorParallel() + residual(execution.ranks().residual())));
    }

    private static String residual(ResidualOptions rows) {
        return rows.sequenceParallel() ? ", residual rows " + rows.reduction().label() : "";
    }

    private static String key(String way, Stage stage) {
        return way + " | " + stage.key();
    }

    /** The JSON form. */
    public JsonNode toJson() {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("schema", SCHEMA);
        ObjectNode list = root.putObject("seconds_per_unit");
        seconds.forEach((key, values) -> {
            ArrayNode array = list.putArray(key);
            values.forEach(array::add);
        });
        return root;
    }

    /** Reads the JSON form; what is not understood counts as not measured. */
    public static Rates read(JsonNode root) {
        if (!SCHEMA.equals(root.path("schema").asText())) {
            return NONE;
        }
        Map<String, List<Double>> seconds = new TreeMap<>();
        root.path("seconds_per_unit").properties().forEach(entry -> {
            List<Double> values = new ArrayList<>();
            entry.getValue().forEach(value -> {
                if (value.isNumber() && value.asDouble() > 0 && Double.isFinite(value.asDouble()) && values.size() < KEPT) {
                    values.add(value.asDouble());
                }
            });
            if (!values.isEmpty()) {
                seconds.put(entry.getKey(), values);
            }
        });
        return new Rates(seconds);
    }
}
